"""Output folders of EvalScope: `reviews/…/DATASET_SUBSET.jsonl`, with `reports/` beside them.

Read as version 1.x writes them: `outputs/TIME/{configs,predictions,reviews,reports}/MODEL/`, or the
folder of one model that holds `reviews/`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from evalkit.errors import LogError
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
    content_of,
    count_of,
    first_object,
    hash_of,
    id_of,
    inner,
    messages_of,
    number_of,
    read_lines,
    read_object,
    shown,
    text_of,
)

_REVIEWS: Final = "reviews"


def matches(path: Path) -> bool:
    """Whether a folder holds reviews of EvalScope."""
    return any("sample_score" in first_object(file) for file in _reviews(path))


def read(path: Path, part: str | None = None) -> Recording:
    """Read an output folder.

    Raises:
        LogError: When a file is damaged, or the folder holds several models.
    """
    no_parts(part, path)
    files = _reviews(path)
    folders = sorted({file.parent for file in files})
    if len(folders) > 1:
        names = ", ".join(str(folder.relative_to(path)) for folder in folders[:5])
        raise LogError(
            f"'{path}' holds reviews of {len(folders)} models: {names}.",
            hint="Name the folder of one model for each arm.",
        )
    models: set[str] = set()
    tasks = tuple(_task(file, models) for file in files)
    reported = _reported_model(path)
    return require_tasks(
        Recording(
            source=str(path),
            tool="EvalScope",
            version=None,
            model=reported or ", ".join(sorted(models)) or "unknown",
            tasks=tuple(task for task in tasks if task.metrics),
        )
    )


def _reviews(path: Path) -> list[Path]:
    if not path.is_dir():
        return []
    below = (f"{_REVIEWS}/*.jsonl", f"{_REVIEWS}/*/*.jsonl", f"*/{_REVIEWS}/*/*.jsonl")
    found = [file for pattern in below for file in sorted(path.glob(pattern))]
    return found if path.name != _REVIEWS else sorted(path.glob("*.jsonl"))


def _reported_model(path: Path) -> str | None:
    for file in sorted(path.glob("reports/**/*.json"))[:1]:
        try:
            return text_of(read_object(file).get("model_name"))
        except LogError:
            return None
    return None


def _task(file: Path, models: set[str]) -> RecordedTask:
    bad: set[str] = set()
    main = ""
    seen: dict[str, int] = {}
    items = []
    for where, line in read_lines(file):
        if "sample_score" not in line:
            raise LogError(f"{where} has no 'sample_score': it is no review of EvalScope.")
        id = id_of(line.get("index"), where)
        turns = line.get("messages")
        last = turns[-1] if isinstance(turns, list) and turns else {}
        if isinstance(last, dict) and last.get("role") == "assistant":
            models.add(shown(last.get("model")))
        items.append(_item(line, id, seen.get(id, 0), bad))
        seen[id] = seen.get(id, 0) + 1
        main = main or shown(inner(line, "sample_score", "score").get("main_score_name"))
    ranked = accuracy_like(items, bad)
    return RecordedTask(
        name=file.stem,
        items=tuple(items),
        metrics=tuple(sorted(ranked, key=lambda name: name != main)) if main else ranked,
        unknown=("template", "sampling"),
    )


def _item(line: Mapping[str, Any], id: str, epoch: int, bad: set[str]) -> Item:
    score = inner(line, "sample_score", "score")
    metrics = {name: share_of(value) for name, value in inner(score, "value").items()}
    bad.update(name for name, value in metrics.items() if value is None)
    turns = line.get("messages") if isinstance(line.get("messages"), list) else []
    asked = [one for one in turns or [] if isinstance(one, dict)]
    reply: Mapping[str, Any] = {}
    if asked and asked[-1].get("role") == "assistant":
        reply = asked.pop()
    performance = inner(reply, "perf_metrics")
    prompt = messages_of(asked)
    said = score.get("prediction")
    why = " ".join(shown(score.get("explanation")).split())[:400]
    read_out = shown(score.get("extracted_prediction"))
    return Item(
        id=id,
        epoch=epoch,
        messages=prompt,
        target=shown(line.get("target")),
        answer=content_of(reply.get("content")) if reply else (text_of(said)),
        metrics=metrics,
        extracted=dict.fromkeys(metrics, read_out),
        explanations=dict.fromkeys(metrics, why),
        doc_hash=hash_of([line.get("target"), inner(line, "sample_score").get("sample_metadata")]),
        prompt_hash=hash_of([[turn.role, turn.content] for turn in prompt]) if prompt else None,
        prompt_tokens=count_of(performance.get("input_tokens")),
        completion_tokens=count_of(performance.get("output_tokens")),
        seconds=number_of(performance.get("latency")),
    )


FORMATS.register("evalscope")(LogFormat("EvalScope output", matches, read))
