"""lm-eval's output folder: `results_TIME.json` beside `samples_TASK_TIME.jsonl`, an arm each.

As `lm_eval run --log_samples` of version 0.4.13 writes them. lm-eval has no word for a request
without an answer: its reply and its score are null here, never an empty text or a zero, and it
is not in the accuracy.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC
from pathlib import Path
from typing import Any, Final

from evalkit.collect.writer import write_atomic
from evalkit.errors import StoreError
from evalkit.export.base import Export, ExportRun, Row, Tally, tallies
from evalkit.types import Sampling, Taskset

METRIC: Final = "acc"
FILTER: Final = "none"
# What lm-eval's own filters say where nothing could be extracted.
NOTHING: Final = "[invalid]"
_UNSAFE = re.compile(r"[\"<>:/|\\?*\[\]]+")


def write_lm_eval(export: Export, folder: Path) -> list[Path]:
    """Write every run into a folder of its own.

    Returns:
        These folders.

    Raises:
        StoreError: When they cannot be written.
    """
    return [_write_run(run, folder / safe_name(run.name)) for run in export.runs]


def safe_name(name: str) -> str:
    """Return a model's name as lm-eval makes it safe for files."""
    return _UNSAFE.sub("__", name)


def _write_run(run: ExportRun, folder: Path) -> Path:
    stamp = run.created.astimezone(UTC).replace(tzinfo=None)
    time = stamp.isoformat(timespec="microseconds").replace(":", "-")
    names = [taskset.name for taskset in run.tasksets]
    hashes: dict[str, Any] = {name: hashlib.sha256() for name in names}
    counted = tallies(run)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in names:
            # The underscore parts name and time.
            file = folder / f"samples_{name}_{time}.jsonl"
            write_atomic(file, _lines(run, name, hashes[name]))
        totals = _totals(run, counted, {name: one.hexdigest() for name, one in hashes.items()})
        text = json.dumps(totals, indent=2, ensure_ascii=False)
        write_atomic(folder / f"results_{time}.json", [_bytes(text)])
    except OSError as error:
        raise StoreError(f"{folder} cannot be written: {error.strerror or error}.") from error
    return folder


def _lines(run: ExportRun, name: str, task_hash: Any) -> Iterator[bytes]:
    """Yield a taskset's samples: all epochs of one in a line, in the order of the samples."""
    sampling = run.sampling[name]
    order = {s.id: at for t in run.tasksets if t.name == name for at, s in enumerate(t.samples)}
    by_sample: dict[str, list[Row]] = {}
    for row in run.rows():
        if row.sample.taskset == name:
            by_sample.setdefault(row.sample.id, []).append(row)
    for id in sorted(by_sample, key=order.__getitem__):
        line = _line(order[id], sorted(by_sample[id], key=_epoch), sampling)
        task_hash.update((line["doc_hash"] + line["prompt_hash"] + line["target_hash"]).encode())
        yield _bytes(json.dumps(line, ensure_ascii=False) + "\n")


def _line(doc_id: int, rows: list[Row], sampling: Sampling) -> dict[str, Any]:
    row, sample = rows[0], rows[0].sample
    doc: dict[str, Any] = {"id": sample.id, "language": sample.language,
                           "category": sample.category}  # fmt: skip
    prompt, target = row.completion.prompt_hash, ""
    if not row.redacted:
        turns = [{"role": m.role, "content": m.content} for m in sample.messages]
        doc |= {"messages": turns, "target": dict(sample.target)}
        prompt = json.dumps(turns, ensure_ascii=False)
        target = json.dumps(dict(sample.target), ensure_ascii=False)
    values = [one.value for one in rows if one.value is not None]
    return {
        "doc_id": doc_id,
        "doc": doc,
        "target": target,
        "arguments": {"gen_args_0": {"arg_0": prompt, "arg_1": _generation(sampling)}},
        "resps": [[None if one.redacted else one.completion.text for one in rows]],
        "filtered_resps": [_extracted(one) for one in rows],
        "filter": FILTER,
        "metrics": [METRIC],
        "doc_hash": _sha256(json.dumps(doc, indent=2, ensure_ascii=False)),
        "prompt_hash": _sha256(prompt),
        "target_hash": _sha256(target),
        METRIC: sum(values) / len(values) if values else None,
        "evalkit": [_said(one) for one in rows],
    }


def _epoch(row: Row) -> int:
    return row.completion.epoch


def _extracted(row: Row) -> str | None:
    if row.missing or row.redacted:
        return None
    if row.score.value is None:
        return NOTHING
    return row.completion.text if row.score.answer is None else row.score.answer


def _said(row: Row) -> dict[str, Any]:
    """Return what lm-eval's format has no place for."""
    score, completion = row.score, row.completion
    return {
        "status": score.status.value,
        "outcome": None if score.outcome is None else score.outcome.value,
        "flags": [flag.value for flag in score.flags],
        "reason": score.reason,
        "scorer": f"{score.scorer} v{score.scorer_version}",
        "finish_reason": completion.finish_reason,
        "completion_tokens": completion.usage.completion_tokens,
        "error": None if completion.error is None else completion.error.kind,
    }


def _generation(sampling: Sampling) -> dict[str, Any]:
    return {
        "until": list(sampling.stop),
        "max_gen_toks": sampling.max_tokens,
        "do_sample": sampling.temperature > 0,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
    }


def _totals(
    run: ExportRun, counted: Mapping[str, Tally], hashes: Mapping[str, str]
) -> dict[str, Any]:
    names = [taskset.name for taskset in run.tasksets]
    identity = run.identity
    return {
        "results": {name: _result(name, counted.get(name, Tally())) for name in names},
        "group_subtasks": {name: [] for name in names},
        "configs": {t.name: _config(run, t) for t in run.tasksets},
        "versions": {taskset.name: taskset.version for taskset in run.tasksets},
        "n-shot": dict.fromkeys(names, 0),
        "higher_is_better": {name: {METRIC: True} for name in names},
        "n-samples": {
            t.name: {
                "original": len(t.samples),
                "effective": len(counted.get(t.name, Tally()).values),
            }
            for t in run.tasksets
        },
        "config": {
            "model": "evalkit",
            "model_args": {"pretrained": identity.model, "quantization": identity.quantization},
            "batch_size": 1,
            "limit": None,
            "random_seed": run.seed,
        },
        "git_hash": None,
        "date": run.created.timestamp(),
        "lm_eval_version": "0.4.13",
        "task_hashes": dict(hashes),
        "model_source": identity.engine or identity.kind,
        "model_name": run.name,
        "model_name_sanitized": safe_name(run.name),
        "system_instruction": None,
        "system_instruction_sha": None,
        "fewshot_as_multiturn": None,
        "chat_template": None,
        "chat_template_sha": identity.template_hash,
        "evalkit": run.facts(),
    }


def _result(name: str, tally: Tally) -> dict[str, Any]:
    accuracy, error = tally.accuracy, tally.standard_error
    return {
        "alias": name,
        f"{METRIC},{FILTER}": "N/A" if accuracy is None else accuracy,
        f"{METRIC}_stderr,{FILTER}": "N/A" if error is None else error,
    }


def _config(run: ExportRun, taskset: Taskset) -> dict[str, Any]:
    return {
        "task": taskset.name,
        "output_type": "generate_until",
        "description": taskset.description,
        "num_fewshot": 0,
        "repeats": run.epochs,
        "metric_list": [{"metric": METRIC, "aggregation": "mean", "higher_is_better": True}],
        "generation_kwargs": _generation(run.sampling[taskset.name]),
        "metadata": {"version": taskset.version, "content_hash": taskset.content_hash},
    }


def _sha256(text: str) -> str:
    return hashlib.sha256(_bytes(text)).hexdigest()


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")
