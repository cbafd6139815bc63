"""Output folders of lm-eval: `results_TIME.json` beside `samples_TASK_TIME.jsonl`.

Written by `lm_eval run --output_path DIR --log_samples`, as version 0.4.13 does. A document is
scored once for each filter of its task, in a line of its own. Earlier versions of 0.4 name neither
the filter nor the scores in a line: then the task's configuration does, in its order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
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
    harmless,
    hash_of,
    id_of,
    inner,
    messages_of,
    number_of,
    objects,
    parse,
    read_lines,
    read_object,
    shown,
    text_of,
)
from evalkit.types import Message

_DEPTH: Final = 3
_SEEDS: Final = ("random_seed", "numpy_seed", "torch_seed", "fewshot_seed")
# What of a task's configuration makes prompts and answers what they are.
_ASKED: Final = ("version", "output_type", "generation_kwargs", "description", "repeats")
_MOST_CHOICES: Final = 1000
# What its filter `regex` says where nothing matches.
_NOTHING: Final = "[invalid]"


def matches(path: Path) -> bool:
    """Whether a folder or file holds totals of lm-eval."""
    return bool(_totals(path))


def read(path: Path, part: str | None = None) -> Recording:
    """Read the newest run in a folder.

    Raises:
        LogError: When a file is damaged, there are no samples, or it is not clear which run is
            meant.
    """
    no_parts(part, path)
    found = _totals(path)
    folders = sorted({one.parent for one in found})
    if len(folders) > 1:
        raise LogError(
            f"'{path}' holds runs of {len(folders)} models: "
            f"{', '.join(str(one.relative_to(path)) for one in folders[:5])}.",
            hint="Name one of these folders for each arm.",
        )
    newest = max(found, key=_stamp)
    head = read_object(newest)
    stamp = _stamp(newest)
    files = {
        one.name.removeprefix("samples_").removesuffix(f"_{stamp}.jsonl"): one
        for one in newest.parent.glob("samples_*.jsonl")
        if one.name.endswith(f"_{stamp}.jsonl")
    }
    if not files:
        raise LogError(
            f"'{newest}' holds totals alone: there is no samples_*_{stamp}.jsonl beside it.",
            hint="Run lm_eval again with --log_samples.",
        )
    notes = []
    if len(found) > 1:
        notes.append(f"{path} holds {len(found)} runs: the newest is taken, {stamp}")
    tasks = tuple(_task(name, file, head) for name, file in sorted(files.items()))
    return require_tasks(
        Recording(
            source=str(path),
            tool="lm-eval",
            version=text_of(head.get("lm_eval_version")),
            model=_model(head),
            tasks=tuple(task for task in tasks if task.metrics),
            created=_date(head),
            about=_about(head),
            notes=(*notes, *_left_out(tasks)),
        )
    )


def _left_out(tasks: tuple[RecordedTask, ...]) -> Iterator[str]:
    names = [task.name for task in tasks if not task.metrics]
    if names:
        yield f"no score between 0 and 1 for each sample: {', '.join(names)} left out"


def _totals(path: Path) -> list[Path]:
    """Return the files of totals at a path."""
    if path.is_file():
        return [path] if path.suffix == ".json" and _are_totals(path) else []
    if not path.is_dir():
        return []
    patterns = ("*/" * depth + "results*.json" for depth in range(_DEPTH))
    files = (file for pattern in patterns for file in sorted(path.glob(pattern)))
    return [file for file in files if file.is_file() and _are_totals(file)]


def _are_totals(path: Path) -> bool:
    try:
        head = read_object(path)
    except LogError:
        # Somebody's damaged totals are still theirs: reading says what is wrong.
        return path.name.startswith("results_") and any(path.parent.glob("samples_*.jsonl"))
    return isinstance(head.get("results"), dict) and isinstance(head.get("configs"), dict)


def _stamp(path: Path) -> str:
    return path.stem.removeprefix("results").removeprefix("_")


def _date(head: Mapping[str, Any]) -> str | None:
    seconds = number_of(head.get("date"))
    try:
        when = None if seconds is None else datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, OSError, ValueError):
        return None
    return None if when is None else when.isoformat(timespec="seconds")


def _arguments(head: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the arguments of the model: an object, or `a=b,c=d` of older versions."""
    given = inner(head, "config").get("model_args")
    if isinstance(given, str):
        pairs = (pair.partition("=") for pair in given.split(","))
        return {key.strip(): value for key, equals, value in pairs if equals}
    return given if isinstance(given, dict) else {}


def _model(head: Mapping[str, Any]) -> str:
    arguments = _arguments(head)
    names = (head.get("model_name"), arguments.get("pretrained"), arguments.get("model"))
    return next((found for one in names if (found := text_of(one))), "unknown")


def _about(head: Mapping[str, Any]) -> dict[str, Any]:
    about = {
        "backend": head.get("model_source") or inner(head, "config").get("model"),
        "model_args": harmless(_arguments(head)),
        "transformers": head.get("transformers_version"),
        "chat_template": head.get("chat_template_sha"),
    }
    return {key: value for key, value in harmless(about).items() if value not in (None, "", {})}


def _settings(name: str, head: Mapping[str, Any]) -> dict[str, Any]:
    config, task = inner(head, "config"), inner(head, "configs", name)
    version = inner(head, "versions").get(name)
    settings = {
        **{key: task.get(key) for key in _ASKED},
        "version": version,
        "few-shot examples": inner(head, "n-shot").get(name, task.get("num_fewshot")),
        "prompt template": hash_of([task.get(f"doc_to_{one}") for one in ("text", "choice")])[:8],
        "backend": head.get("model_source"),
        "system instruction": head.get("system_instruction"),
        "few-shot as turns": head.get("fewshot_as_multiturn"),
        "chat template": head.get("chat_template_sha"),
        **{key.replace("_", " "): config.get(key) for key in _SEEDS},
    }
    return {key: harmless(value) for key, value in settings.items()}


@dataclass(slots=True)
class _Doc:
    """What the lines of one document say together."""

    line: Mapping[str, Any]
    where: str
    metrics: dict[str, float | None] = field(default_factory=dict)
    extracted: dict[str, str] = field(default_factory=dict)


def _task(name: str, file: Path, head: Mapping[str, Any]) -> RecordedTask:
    docs: dict[str, _Doc] = {}
    places: Counter[str] = Counter()
    config = inner(head, "configs", name)
    bad: set[str] = set()
    seen: set[tuple[str, str]] = set()
    better = inner(head, "higher_is_better", name)
    for where, line in read_lines(file):
        if "doc_id" not in line:
            raise LogError(f"{where} has no 'doc_id': it is no sample of lm-eval.")
        id = id_of(line["doc_id"], where)
        filtered = shown(line.get("filter", _filter_of(config, places[id])))
        places[id] += 1
        if (id, filtered) in seen:
            raise LogError(f"{where}: document {id} stands there twice for filter '{filtered}'.")
        seen.add((id, filtered))
        doc = docs.setdefault(id, _Doc(line, where))
        for metric, value in _scores(line, config, better):
            key = f"{metric},{filtered}"
            doc.metrics[key] = share_of(value)
            doc.extracted[key] = _first(line.get("filtered_resps"))
            nan = isinstance(value, float) and number_of(value) is None
            if doc.metrics[key] is None and not nan and value is not None:
                bad.add(key)
    generated = str(config.get("output_type", "generate_until")).startswith("generate")
    items = tuple(_item(id, doc, generated) for id, doc in docs.items())
    kwargs = inner(config, "generation_kwargs")
    bound = kwargs.get("max_gen_toks", _arguments(head).get("max_gen_toks"))
    told = head.get("chat_template_sha") is not None
    return RecordedTask(
        name=name,
        items=items,
        metrics=accuracy_like(items, bad),
        settings=_settings(name, head),
        generated=generated,
        unknown=() if told else ("template",),
        max_tokens=bound if isinstance(bound, int) and bound > 0 else None,
    )


def _filter_of(config: Mapping[str, Any], place: int) -> str:
    filters = config.get("filter_list")
    named = filters if isinstance(filters, list) else []
    found = named[place] if place < len(named) else None
    return shown(found.get("name")) if isinstance(found, dict) else "none"


def _scores(
    line: Mapping[str, Any], config: Mapping[str, Any], better: Mapping[str, Any]
) -> Iterator[tuple[str, Any]]:
    names = line.get("metrics")
    if not isinstance(names, list):
        rows = config.get("metric_list")
        listed = [one for one in rows if isinstance(one, dict)] if isinstance(rows, list) else []
        names = [name for one in listed if (name := one.get("metric")) in line]
    for name in names:
        if isinstance(name, str) and better.get(name) is not False:
            yield name, line.get(name)


def _item(id: str, doc: _Doc, generated: bool) -> Item:
    line = doc.line
    requests = _requests(line.get("arguments"), doc.where)
    prompt = requests[0][0] if requests else None
    doc_hash, prompt_hash = text_of(line.get("doc_hash")), text_of(line.get("prompt_hash"))
    reply = _first(line.get("resps")) if generated else _weighed(requests, line)
    return Item(
        id=id,
        messages=_prompt(prompt),
        target=shown(line.get("target")),
        answer=reply,
        metrics=doc.metrics,
        extracted=doc.extracted if generated else {},
        unreadable=tuple(name for name, text in doc.extracted.items() if text == _NOTHING),
        doc_hash=doc_hash or hash_of(line.get("doc")),
        prompt_hash=prompt_hash or (None if prompt is None else hash_of(prompt)),
    )


def _prompt(prompt: Any) -> tuple[Message, ...]:
    """Return the turns of a context, which for chat is a list of messages as text, in a list."""
    if isinstance(prompt, list) and len(prompt) == 1 and isinstance(prompt[0], str):
        prompt = prompt[0]
    if isinstance(prompt, str) and prompt.lstrip().startswith('[{"'):
        try:
            turns = messages_of(parse(prompt.encode("utf-8", "replace"), "the prompt"))
        except LogError:
            turns = ()
        if turns:
            return turns
    return messages_of(prompt)


def _requests(given: Any, where: str) -> list[tuple[Any, Any]]:
    """Return context and second argument of each request, however the version writes them."""
    if isinstance(given, dict):
        rows = objects(list(given.values()), where)
        return [(row.get("arg_0"), row.get("arg_1")) for row in rows]
    pairs = given if isinstance(given, list) else []
    return [(pair[0], pair[1]) for pair in pairs if isinstance(pair, list) and len(pair) > 1]


def _first(replies: Any) -> str:
    """Return the first text in nested lists."""
    for _ in range(4):
        if not isinstance(replies, list) or not replies:
            break
        replies = replies[0]
    return shown(replies)


def _weighed(requests: list[tuple[Any, Any]], line: Mapping[str, Any]) -> str:
    """Say which choice was the likeliest, and how likely each was."""
    replies = line.get("filtered_resps")
    weights = [_first(reply) for reply in replies] if isinstance(replies, list) else []
    choices = [shown(second).strip() for _, second in requests]
    rows = list(zip(choices, weights, strict=False))[:_MOST_CHOICES]

    def weight(row: tuple[str, str]) -> float:
        try:
            return float(row[1])
        except ValueError:
            return float("-inf")

    rows.sort(key=weight, reverse=True)
    return "\n".join(f"{choice}  (log-likelihood {said})" for choice, said in rows)


FORMATS.register("lm_eval")(LogFormat("lm-eval output", matches, read))
