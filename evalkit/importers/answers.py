"""JSON lines of answers that anything recorded: a canary's traffic, say.

A line has an id and, where they are known, the prompt, the answer, and its score. Which keys are
understood docs/importing.md says.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from evalkit.errors import LogError
from evalkit.importers.base import FORMATS, Item, LogFormat, RecordedTask, Recording, no_parts
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
    shown,
    text_of,
)
from evalkit.types import Family

IDS: Final = ("id", "sample_id", "doc_id", "custom_id", "request_id")
PROMPTS: Final = ("messages", "prompt", "input", "question")
ANSWERS: Final = ("completion", "response", "output", "answer", "prediction", "text")
SCORES: Final = (
    "correct", "is_correct", "passed", "success", "score", "value", "reward", "accuracy",
)  # fmt: skip
TARGETS: Final = ("target", "expected", "reference", "gold")
TASKS: Final = ("task", "taskset", "dataset")
_NAME: Final = "answers"


def matches(path: Path) -> bool:
    """Whether a file is JSON lines, the first of which has an id and an answer or a score."""
    line = first_object(path) if path.is_file() else {}
    said = _has(line, ANSWERS) or _has(line, SCORES) or bool(_own_turn(line)[1])
    return _has(line, IDS) and said


def read(path: Path, part: str | None = None) -> Recording:
    """Read a file of answers; a task without any score has no metric.

    Raises:
        LogError: Names the line that is no answer.
    """
    no_parts(part, path)
    by_task: defaultdict[str, dict[tuple[str, int], Item]] = defaultdict(dict)
    families: dict[str, Family] = {}
    bad: defaultdict[str, set[str]] = defaultdict(set)
    models: dict[str, None] = {}
    for where, line in read_lines(path):
        task = shown(_first(line, TASKS)) or _NAME
        item = _item(line, where, bad[task])
        if (item.id, item.epoch) in by_task[task]:
            raise LogError(
                f"{where}: id '{item.id[:60]}' stands there twice.",
                hint="Number repeats with 'epoch', from 0.",
            )
        by_task[task][item.id, item.epoch] = item
        if "family" in line:
            families[task] = _family(line["family"], where)
        if isinstance(line.get("model"), str):
            models[shown(line["model"])] = None
    if not by_task:
        raise LogError(f"'{path}' holds no answer.")
    return Recording(
        source=str(path),
        tool="another program (JSON lines)",
        version=None,
        model=", ".join(list(models)[:3]) or path.name,
        tasks=tuple(
            _task(name, tuple(items.values()), bad[name], families.get(name))
            for name, items in by_task.items()
        ),
        partial=True,
    )


def _task(name: str, items: tuple[Item, ...], bad: set[str], family: Family | None) -> RecordedTask:
    silent = any(not item.messages for item in items)
    return RecordedTask(
        name=name,
        items=items,
        metrics=accuracy_like(items, bad),
        family=family,
        unknown=("template", "sampling", *(("prompts",) if silent else ())),
    )


def _has(line: Mapping[str, Any], keys: tuple[str, ...]) -> bool:
    return any(key in line for key in keys)


def _first(line: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    return next((line[key] for key in keys if key in line), None)


def _family(value: Any, where: str) -> Family:
    try:
        return Family(value)
    except ValueError:
        known = ", ".join(Family)
        raise LogError(f"{where}: 'family' is none of {known}.") from None


def _item(line: Mapping[str, Any], where: str, bad: set[str]) -> Item:
    if not _has(line, IDS):
        raise LogError(f"{where} has no id.", hint=f"Name it by one of {', '.join(IDS)}.")
    asked, told = _own_turn(line)
    if not (_has(line, ANSWERS) or _has(line, SCORES) or "error" in line or told):
        raise LogError(
            f"{where} has neither an answer nor a score.",
            hint=f"An answer is one of {', '.join(ANSWERS)}; a score one of {', '.join(SCORES)}.",
        )
    epoch = line.get("epoch", 0)
    if count_of(epoch) is None:
        raise LogError(f"{where}: 'epoch' is not a whole number from 0.")
    said, stop, usage = _reply(_first(line, ANSWERS) if _has(line, ANSWERS) else told, line)
    error = line.get("error")
    prompt = messages_of(asked)
    failed = bool(error) and said is None
    return Item(
        id=id_of(_first(line, IDS), where),
        epoch=epoch,
        messages=prompt,
        target=shown(_first(line, TARGETS)),
        answer=said,
        reasoning=text_of(line.get("reasoning")),
        metrics={} if failed else _scores(line, where, bad),
        doc_hash=None,
        prompt_hash=hash_of([[turn.role, turn.content] for turn in prompt]) if prompt else None,
        error=" ".join(shown(error).split())[:400] if failed else None,
        finish_reason=stop,
        prompt_tokens=count_of(usage.get("prompt_tokens")),
        completion_tokens=count_of(usage.get("completion_tokens")),
        seconds=number_of(line.get("seconds")),
        category=shown(line.get("category"))[:100],
        language=text_of(line.get("language")),
    )


def _own_turn(line: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return prompt and answer: the last of the messages may be the model's own."""
    asked = _first(line, PROMPTS)
    if isinstance(asked, list) and asked and not _has(line, ANSWERS):
        last = asked[-1]
        if isinstance(last, Mapping) and last.get("role") == "assistant":
            return asked[:-1], last.get("content")
    return asked, None


def _reply(reply: Any, line: Mapping[str, Any]) -> tuple[str | None, str | None, Mapping[str, Any]]:
    """Return text, finish reason and usage of an answer, also of a server's whole reply."""
    stop, usage = text_of(line.get("finish_reason")), inner(line, "usage")
    if isinstance(reply, Mapping):
        reply = inner(reply, "body") or reply
        choices = reply.get("choices")
        first = choices[0] if isinstance(choices, list) and choices else {}
        if isinstance(first, Mapping):
            said = inner(first, "message").get("content", first.get("text"))
            stop = stop or text_of(first.get("finish_reason"))
            usage = usage or inner(reply, "usage")
            return None if said is None else content_of(said), stop, usage
    return None if reply is None else content_of(reply), stop, usage


def _scores(line: Mapping[str, Any], where: str, bad: set[str]) -> dict[str, float | None]:
    metrics: dict[str, float | None] = {}
    for key in SCORES:
        if key in line:
            metrics[key] = share_of(line[key])
            nan = isinstance(line[key], float) and number_of(line[key]) is None
            if metrics[key] is None and line[key] is not None and not nan:
                bad.add(key)
    if metrics and bad.issuperset(metrics):
        raise LogError(f"{where}: its score is no number from 0 to 1.")
    return metrics


FORMATS.register("answers")(LogFormat("answers as JSON lines", matches, read))
