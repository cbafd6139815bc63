"""Result folders of NeMo Evaluator.

Version 0.3 (`nel eval run -o DIR`) writes for each benchmark a bundle `eval-TIME-NAME.json` with
`results.jsonl` beside it. Version 0.2 writes `results.yml` for the whole, and the samples as the
harness behind it does: `byob_predictions.jsonl` of one's own benchmarks (`--save-predictions`),
or the files of lm-eval.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import yaml

from evalkit.errors import LogError
from evalkit.importers import lm_eval
from evalkit.importers.base import (
    FORMATS,
    Item,
    LogFormat,
    RecordedTask,
    Recording,
    no_parts,
    require_tasks,
)
from evalkit.importers.metrics import accuracy_like, share_of
from evalkit.importers.reading import (
    count_of,
    harmless,
    hash_of,
    id_of,
    inner,
    messages_of,
    number_of,
    opened,
    read_lines,
    read_object,
    shown,
    text_of,
)

_DEPTH: Final = 4
_MOST_YAML: Final = 4 << 20
_RESULTS: Final = "results.jsonl"
_PREDICTIONS: Final = "byob_predictions.jsonl"
_TOTALS: Final = "results.yml"
_ASKED: Final = (
    "temperature", "top_p", "max_tokens", "seed", "system_prompt", "max_problems", "shuffle_seed",
    "scorers",
)  # fmt: skip
_PARAMS: Final = (
    "temperature", "top_p", "max_new_tokens", "limit_samples", "task", "extra",
)  # fmt: skip


def matches(path: Path) -> bool:
    """Whether a folder, or a bundle in it, is of NeMo Evaluator."""
    return any(True for _ in _bundles(path)) or _is_older(path)


def read(path: Path, part: str | None = None) -> Recording:
    """Read a result folder.

    Raises:
        LogError: When a file is damaged, or there are totals but no samples.
    """
    no_parts(part, path)
    bundles = list(_bundles(path))
    return require_tasks(_read_bundles(path, bundles) if bundles else _read_older(path))


def _found(path: Path, pattern: str) -> Iterator[Path]:
    if path.is_dir():
        for depth in range(_DEPTH):
            yield from (file for file in sorted(path.glob("*/" * depth + pattern)))


# ---- version 0.3 ---------------------------------------------------------------------


def _bundles(path: Path) -> Iterator[Path]:
    files = [path] if path.is_file() and path.suffix == ".json" else _found(path, "eval-*.json")
    for file in files:
        try:
            head = read_object(file)
        except LogError:
            if (file.parent / _RESULTS).is_file():
                yield file
            continue
        if isinstance(head.get("benchmark"), dict) and "sdk_version" in head:
            yield file


def _read_bundles(path: Path, files: list[Path]) -> Recording:
    newest: dict[str, tuple[str, Path, dict[str, Any]]] = {}
    notes = []
    for file in files:
        head = read_object(file)
        name, when = _benchmark(head), shown(head.get("timestamp"))
        if name in newest:
            notes.append(f"{path} holds '{name}' more than once: the newest is taken")
        if name not in newest or when > newest[name][0]:
            newest[name] = (when, file, head)
    tasks = [_bundled(file, head) for _, file, head in newest.values()]
    when, _, head = max(newest.values(), key=lambda one: one[0])
    config = inner(head, "config")
    return Recording(
        source=str(path),
        tool="NeMo Evaluator",
        version=text_of(head.get("sdk_version")),
        model=shown(config.get("model")) or "unknown",
        tasks=tuple(task for task in tasks if task.metrics),
        created=when or None,
        about={"config_hash": text_of(head.get("config_hash"))},
        notes=tuple(dict.fromkeys(notes)),
    )


def _benchmark(head: Mapping[str, Any]) -> str:
    return shown(inner(head, "benchmark").get("name")) or "benchmark"


def _bundled(bundle: Path, head: Mapping[str, Any]) -> RecordedTask:
    file = bundle.parent / _RESULTS
    if not file.is_file():
        raise LogError(
            f"'{bundle}' holds totals alone: there is no {_RESULTS} beside it.",
            hint="Copy the whole folder of the benchmark.",
        )
    bad: set[str] = set()
    items = _distinct(file, lambda line, where: _result(line, where, bad))
    config = inner(head, "config")
    return RecordedTask(
        name=_benchmark(head),
        items=items,
        metrics=accuracy_like(items, bad),
        settings={key.replace("_", " "): harmless(config.get(key)) for key in _ASKED},
        unknown=("template", *(() if config.get("temperature") is not None else ("sampling",))),
        max_tokens=count_of(config.get("max_tokens")) or None,
    )


def _distinct(file: Path, item: Callable[[Mapping[str, Any], str], Item]) -> tuple[Item, ...]:
    found: dict[tuple[str, int], Item] = {}
    for where, line in read_lines(file):
        one = item(line, where)
        if (one.id, one.epoch) in found:
            raise LogError(f"{where}: sample {one.id} stands there twice.")
        found[one.id, one.epoch] = one
    return tuple(found.values())


def _result(line: Mapping[str, Any], where: str, bad: set[str]) -> Item:
    reward = share_of(line.get("reward"))
    if reward is None and line.get("reward") is not None:
        bad.add("reward")
    details = inner(line, "scoring_details")
    failed = details.get("error_category") == "infra_error"
    prompt, latency = line.get("prompt"), number_of(line.get("latency_ms"))
    said = line.get("model_response")
    extra = inner(line, "metadata")
    known = details.get("error") or details.get("error_category")
    return Item(
        id=id_of(line.get("problem_idx"), where),
        epoch=count_of(line.get("repeat")) or 0,
        messages=messages_of(prompt),
        target=shown(line.get("expected_answer")),
        answer=None if failed or said is None else shown(said),
        metrics={} if failed else {"reward": reward},
        extracted={"reward": shown(line.get("extracted_answer"))},
        doc_hash=hash_of([line.get("expected_answer"), prompt]),
        prompt_hash=None if prompt is None else hash_of(prompt),
        error=" ".join(shown(known).split())[:400] or "infra_error" if failed else None,
        seconds=None if latency is None else latency / 1000,
        category=shown(extra.get("category") or extra.get("subject"))[:100],
    )


# ---- version 0.2 ---------------------------------------------------------------------


def _is_older(path: Path) -> bool:
    if not path.is_dir():
        return False
    return any(True for _ in _found(path, _PREDICTIONS)) or bool(_totals(path))


def _totals(path: Path) -> dict[str, Any]:
    """Return what `results.yml` says, and nothing when there is none of NeMo's."""
    for file in _found(path, _TOTALS):
        with opened(file) as opened_file:
            data = opened_file.read(_MOST_YAML)
        try:
            whole = yaml.safe_load(data)
        except (yaml.YAMLError, RecursionError, ValueError):
            continue
        if isinstance(whole, dict) and {"target", "results"} <= whole.keys():
            return whole
    return {}


def _read_older(path: Path) -> Recording:
    totals = _totals(path)
    endpoint = inner(totals, "target", "api_endpoint")
    params = inner(totals, "config", "params")
    files = list(_found(path, _PREDICTIONS))
    model = shown(endpoint.get("model_id")) or "unknown"
    if not files:
        nested = [folder for folder in _folders(path) if lm_eval.matches(folder)]
        if not nested:
            raise LogError(
                f"'{path}' holds totals alone, and no samples to pair.",
                hint="Run it again so that the harness logs samples (--save-predictions, "
                "log_samples).",
            )
        harness = lm_eval.read(nested[0])
        return replace(harness, source=str(path), tool="NeMo Evaluator with lm-eval")
    tasks = [_predicted(file, params, known=bool(totals)) for file in files]
    return Recording(
        source=str(path),
        tool="NeMo Evaluator",
        version=_version(totals),
        model=model,
        tasks=tuple(task for task in tasks if task.metrics),
        about=harmless({"url": endpoint.get("url"), "type": endpoint.get("type")}),
    )


def _folders(path: Path) -> list[Path]:
    return [path, *sorted(one for one in path.glob("*/") if one.is_dir())]


def _version(totals: Mapping[str, Any]) -> str:
    found = inner(totals, "metadata", "versioning").get("nemo-evaluator")
    return text_of(found) or "0.2"


def _predicted(file: Path, params: Mapping[str, Any], *, known: bool) -> RecordedTask:
    bad: set[str] = set()
    items = _distinct(file, lambda line, where: _prediction(line, where, bad))
    return RecordedTask(
        name=file.parent.name,
        items=items,
        metrics=accuracy_like(items, bad),
        settings={key.replace("_", " "): harmless(params.get(key)) for key in _PARAMS},
        unknown=("template", *(() if known else ("sampling",))),
        max_tokens=count_of(params.get("max_new_tokens")) or None,
    )


def _prediction(line: Mapping[str, Any], where: str, bad: set[str]) -> Item:
    scores = inner(line, "scores")
    metrics = {name: share_of(value) for name, value in scores.items()}
    bad.update(name for name, value in metrics.items() if value is None)
    failed = line.get("status") == "skipped_model_error"
    said, prompt = line.get("response"), line.get("prompt")
    return Item(
        id=id_of(line.get("sample_id"), where),
        messages=messages_of(prompt),
        target=shown(line.get("target")),
        answer=None if said is None else shown(said),
        metrics={} if failed else metrics,
        doc_hash=hash_of([line.get("target"), line.get("metadata")]),
        prompt_hash=None if prompt is None else hash_of(prompt),
        error=" ".join(shown(line.get("error")).split())[:400] or "error" if failed else None,
    )


FORMATS.register("nemo")(LogFormat("NeMo Evaluator results", matches, read))
