"""Logs of Inspect (inspect_ai): `.eval` archives and `.json` files, or a folder of them.

Log version 2, as inspect_ai 0.3 writes it. A sample is one line of its task's data set; epochs
count from 1 there.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from evalkit.errors import LogError
from evalkit.importers.archive import open_archive
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
    as_object,
    content_of,
    count_of,
    first_bytes,
    harmless,
    hash_of,
    id_of,
    inner,
    messages_of,
    number_of,
    objects,
    parse,
    read_object,
    shown,
    text_of,
)

_HEADER: Final = "header.json"
_ENDINGS: Final = (".eval", ".json")
# inspect_ai.scorer.value_to_float: correct, incorrect, partial, no answer.
_LETTERS: Final = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
_SAMPLING: Final = (
    "temperature", "top_p", "top_k", "min_p", "max_tokens", "seed", "stop_seqs", "num_choices",
    "frequency_penalty", "presence_penalty", "reasoning_effort", "system_message",
)  # fmt: skip
_STOPS: Final = {"max_tokens": "length", "model_length": "length"}
_ATTACHED: Final = re.compile(r"attachment://([0-9a-f]{32})")


def matches(path: Path) -> bool:
    """Whether a file is a log of Inspect, or a folder holds some."""
    return any(True for _ in _logs(path))


def read(path: Path, part: str | None = None) -> Recording:
    """Read a log, or the newest one of each task in a folder.

    Raises:
        LogError: When it is damaged, or holds several models.
        MissingExtraError: When an archive needs a package to be read.
    """
    no_parts(part, path)
    newest: dict[str, tuple[str, Mapping[str, Any], RecordedTask]] = {}
    notes = []
    for file in _logs(path):
        head, samples = _content(file)
        facts = inner(head, "eval")
        task = _task(file, head, samples)
        created = text_of(facts.get("created")) or ""
        if task.name in newest:
            notes.append(f"{path} holds '{task.name}' more than once: the newest is taken")
        if task.name not in newest or created > newest[task.name][0]:
            newest[task.name] = (created, head, task)
        if head.get("status") not in (None, "success"):
            notes.append(f"{file.name} says that its run ended with '{shown(head['status'])}'")
    models = {shown(inner(head, "eval").get("model")) for _, head, _ in newest.values()}
    if len(models) > 1:
        raise LogError(
            f"'{path}' holds logs of several models: {', '.join(sorted(models))}.",
            hint="Name one log, or a folder with the logs of one model, for each arm.",
        )
    created, head, _ = max(newest.values(), key=lambda one: one[0])
    facts = inner(head, "eval")
    return require_tasks(
        Recording(
            source=str(path),
            tool="Inspect",
            version=text_of(inner(facts, "packages").get("inspect_ai")),
            model=models.pop() or "unknown",
            tasks=tuple(task for _, _, task in newest.values() if task.metrics),
            created=created or None,
            about=_about(facts),
            notes=tuple(dict.fromkeys(notes)),
        )
    )


def _logs(path: Path) -> Iterator[Path]:
    if path.is_file():
        if _is_log(path):
            yield path
    elif path.is_dir():
        files = sorted(file for file in path.iterdir() if file.suffix in _ENDINGS)
        yield from (file for file in files if file.is_file() and _is_log(file))


def _is_log(path: Path) -> bool:
    head = first_bytes(path)
    if head.startswith(b"PK"):
        try:
            with zipfile.ZipFile(path) as opened:
                names = opened.namelist()
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
            return path.suffix == ".eval"
        return any(name in (_HEADER, "_journal/start.json") for name in names)
    if path.suffix == ".eval":
        return True
    return head.lstrip().startswith(b"{") and b'"eval"' in head and b'"task"' in head


def _content(path: Path) -> tuple[Mapping[str, Any], list[dict[str, Any]]]:
    """Return what a log says as a whole, and its samples."""
    if not first_bytes(path).startswith(b"PK"):
        whole = read_object(path)
        return whole, objects(whole.get("samples") or [], f"'{path}', samples")
    with open_archive(path) as archive:
        if _HEADER not in archive.names:
            raise LogError(
                f"'{path}' has no {_HEADER}: its run has not ended.",
                hint="Let it end, or repair it with Inspect.",
            )
        where = f"'{path}', {_HEADER}"
        head = as_object(parse(archive.read(_HEADER), where), where)
        samples = []
        for name in archive.names:
            if name.startswith("samples/") and name.endswith(".json"):
                where = f"'{path}', {name[:80]!r}"
                sample = as_object(parse(archive.read(name), where), where)
                # Events are most of a log, and nothing here reads them.
                samples.append({k: v for k, v in sample.items() if not k.startswith("events")})
        return head, samples


def _about(facts: Mapping[str, Any]) -> dict[str, Any]:
    about = {"base_url": facts.get("model_base_url"), "model_args": facts.get("model_args")}
    return {key: value for key, value in harmless(about).items() if value not in (None, "", {})}


def _task(path: Path, head: Mapping[str, Any], samples: Iterable[dict[str, Any]]) -> RecordedTask:
    facts, plan = inner(head, "eval"), inner(head, "plan")
    config = {**inner(facts, "model_generate_config"), **inner(plan, "config")}
    bad: set[str] = set()
    items = tuple(
        _item(sample, bad, f"'{path}', sample {number}") for number, sample in enumerate(samples, 1)
    )
    name = text_of(facts.get("task")) or path.stem
    if not items:
        raise LogError(f"'{path}' holds no samples.", hint="Was it written with --no-log-samples?")
    solvers = [shown(step.get("solver")) for step in objects(plan.get("steps") or [], f"'{path}'")]
    bound = config.get("max_tokens")
    ranked = accuracy_like(items, bad)
    headline = inner(head, "results", "headline").get("score")
    first = [metric for metric in ranked if metric == headline]
    told = [text_of(one.get("name")) for one in _listed(facts.get("scorers"))]
    order = [one for one in (*first, *filter(None, told)) if one in ranked]
    return RecordedTask(
        name=name.rpartition("/")[2] or name,
        items=items,
        metrics=tuple(dict.fromkeys((*order, *ranked))),
        settings={
            "task version": facts.get("task_version"),
            "task arguments": harmless(inner(facts, "task_args")),
            "solvers": solvers,
            **{key: harmless(config.get(key)) for key in _SAMPLING},
        },
        unknown=("template",),
        max_tokens=bound if isinstance(bound, int) and bound > 0 else None,
    )


def _listed(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _item(sample: Mapping[str, Any], bad: set[str], where: str) -> Item:
    epoch = count_of(sample.get("epoch"))
    output, attached = inner(sample, "output"), inner(sample, "attachments")
    choice = (_listed(output.get("choices")) or [{}])[0]
    reply = choice.get("message")
    content = reply.get("content") if isinstance(reply, dict) else output.get("completion")
    asked = _asked(sample)
    error = sample.get("error")
    stop = shown(choice.get("stop_reason")) or None
    usage = inner(output, "usage")
    metrics, extracted, why = _scores(inner(sample, "scores"), bad)
    failed = error is not None and not metrics
    return Item(
        id=id_of(sample.get("id"), where),
        epoch=max((epoch or 1) - 1, 0),
        messages=messages_of(_restored(asked, attached)),
        target=shown(sample.get("target")),
        answer=None if failed else _spoken(_restored(content, attached)),
        reasoning=_thought(_restored(content, attached)),
        metrics=metrics,
        extracted=extracted,
        explanations=why,
        doc_hash=hash_of([sample.get("input"), sample.get("target"), sample.get("choices")]),
        prompt_hash=hash_of(_plain(_restored(asked, attached))),
        error=_reason(error) if failed else None,
        finish_reason=_STOPS.get(stop or "", stop),
        prompt_tokens=count_of(usage.get("input_tokens")),
        completion_tokens=count_of(usage.get("output_tokens")),
        seconds=number_of(output.get("time")),
    )


def _asked(sample: Mapping[str, Any]) -> Any:
    """Return the turns before the answer, or the input where they are not kept."""
    turns = _listed(sample.get("messages"))
    while turns and turns[-1].get("role") != "assistant":
        turns = turns[:-1]
    return turns[:-1] or sample.get("input")


def _plain(turns: Any) -> Any:
    """Leave out what is new each time: ids, and who made a message."""
    if not isinstance(turns, list):
        return turns
    return [[one.get("role"), one.get("content")] for one in turns if isinstance(one, dict)]


def _restored(value: Any, attached: Mapping[str, Any]) -> Any:
    """Put long texts back that a log keeps apart."""
    if isinstance(value, str):
        return _ATTACHED.sub(lambda one: shown(attached.get(one[1], one[0])), value)
    if isinstance(value, list):
        return [_restored(one, attached) for one in value]
    if isinstance(value, dict):
        return {key: _restored(one, attached) for key, one in value.items()}
    return value


def _spoken(content: Any) -> str | None:
    if isinstance(content, list):
        kept = [p for p in content if not isinstance(p, dict) or p.get("type") != "reasoning"]
        return content_of(kept)
    return None if content is None else shown(content)


def _thought(content: Any) -> str | None:
    parts = _listed(content)
    found = [shown(part.get("reasoning")) for part in parts if part.get("type") == "reasoning"]
    return "\n".join(filter(None, found)) or None


def _reason(error: Any) -> str:
    said = error.get("message") if isinstance(error, dict) else error
    return " ".join(shown(said).split())[:400] or "error"


def _scores(
    scores: Mapping[str, Any], bad: set[str]
) -> tuple[dict[str, float | None], dict[str, str], dict[str, str]]:
    metrics: dict[str, float | None] = {}
    extracted: dict[str, str] = {}
    why: dict[str, str] = {}
    for name, score in scores.items():
        if not isinstance(score, dict):
            continue
        value = score.get("value")
        parts = (
            {f"{name}/{key}": one for key, one in value.items()}
            if isinstance(value, dict)
            else {name: value}
        )
        for key, one in parts.items():
            found = _LETTERS.get(one) if isinstance(one, str) else share_of(one)
            nothing = one is None or (isinstance(one, float) and number_of(one) is None)
            metrics[key] = found
            extracted[key] = shown(score.get("answer"))
            why[key] = " ".join(shown(score.get("explanation")).split())[:400]
            if found is None and not nothing:
                bad.add(key)
    return metrics, extracted, why


FORMATS.register("inspect_log")(LogFormat("Inspect log", matches, read))
