"""What `promptfoo eval -o FILE.json` writes: one file with an arm for each provider.

Results of version 3 (promptfoo 0.100 and later) and, as far as they hold the same list, of
version 2. An arm is named `FILE#PROVIDER`, by the provider's label or id.
"""

from __future__ import annotations

from collections import Counter, defaultdict
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
    choose_part,
    require_tasks,
)
from evalkit.importers.metrics import accuracy_like, share_of
from evalkit.importers.reading import (
    count_of,
    first_bytes,
    harmless,
    hash_of,
    inner,
    messages_of,
    number_of,
    objects,
    parse,
    read_object,
    shown,
    text_of,
)
from evalkit.types import Message

_SAMPLING: Final = (
    "temperature", "top_p", "top_k", "min_p", "max_tokens", "max_completion_tokens", "seed", "stop",
    "frequency_penalty", "presence_penalty", "reasoning_effort", "systemPrompt",
)  # fmt: skip
_ERROR: Final = 2
"""`failureReason` of a request without an answer."""


def matches(path: Path) -> bool:
    """Whether a file holds results of promptfoo."""
    head = first_bytes(path) if path.is_file() else b""
    if not head.lstrip().startswith(b"{"):
        return False
    return b'"evalId"' in head[:400] or (b'"results"' in head and b'"promptIdx"' in head)


def read(path: Path, part: str | None = None) -> Recording:
    """Read the results of one provider.

    Raises:
        LogError: When the file is damaged or holds no results.
        UsageError: When it is not clear which provider is meant.
    """
    whole = read_object(path)
    results = inner(whole, "results")
    rows = objects(results.get("results"), f"'{path}', results")
    by_provider: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    ids: dict[str, str] = {}
    for row in rows:
        id, label = _provider(row.get("provider"))
        by_provider[label].append(row)
        ids[label] = id
    if not by_provider:
        raise LogError(f"'{path}' holds no results.")
    wanted = next((label for label, id in ids.items() if part == id), part)
    label = choose_part(by_provider, wanted, path, "provider")
    settings = _settings(whole, label, ids[label])
    task = _task(_name(whole, path), by_provider[label], settings, f"'{path}'")
    return require_tasks(
        Recording(
            source=f"{path}#{label}" if len(by_provider) > 1 else str(path),
            tool="promptfoo",
            version=text_of(inner(whole, "metadata").get("promptfooVersion")),
            model=ids[label],
            tasks=(task,),
            created=text_of(results.get("timestamp")),
            about={"provider": label},
            name=label,
        )
    )


def _name(whole: Mapping[str, Any], path: Path) -> str:
    return text_of(inner(whole, "config").get("description")) or "promptfoo"


def _provider(given: Any) -> tuple[str, str]:
    """Return id and label of a provider."""
    if isinstance(given, dict):
        id = shown(given.get("id")) or "unknown"
        return id, shown(given.get("label")) or id
    return shown(given) or "unknown", shown(given) or "unknown"


def _settings(whole: Mapping[str, Any], label: str, id: str) -> dict[str, Any]:
    """Return how a provider was configured, as far as it shapes answers."""
    providers = inner(whole, "config").get("providers")
    for one in providers if isinstance(providers, list) else ():
        if isinstance(one, dict) and label in (one.get("label"), one.get("id"), id):
            known = (one.get("label") or one.get("id")) == label
            if known:
                config = inner(one, "config")
                return {key: harmless(config.get(key)) for key in _SAMPLING}
    return {}


def _task(
    name: str, rows: list[dict[str, Any]], settings: Mapping[str, Any], where: str
) -> RecordedTask:
    bad: set[str] = set()
    several = len({shown(row.get("promptIdx", 0)) for row in rows}) > 1
    seen: Counter[str] = Counter()
    items = []
    for place, row in enumerate(rows):
        test = count_of(row.get("testIdx"))
        id = str(place if test is None else test)
        if several:
            id += f".{shown(row.get('promptIdx', 0))}"
        # The same test again is a repeat (`--repeat`).
        items.append(_item(row, id, seen[id], bad, f"{where}, result {place + 1}"))
        seen[id] += 1
    bound = settings.get("max_tokens") or settings.get("max_completion_tokens")
    return RecordedTask(
        name=name,
        items=tuple(items),
        metrics=_pass_first(accuracy_like(items, bad)),
        settings=settings,
        unknown=("template",) if settings else ("template", "sampling"),
        max_tokens=bound if isinstance(bound, int) and bound > 0 else None,
    )


def _pass_first(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(names, key=lambda name: name != "pass"))


def _item(row: Mapping[str, Any], id: str, epoch: int, bad: set[str], where: str) -> Item:
    response, grading = inner(row, "response"), inner(row, "gradingResult")
    prompt = inner(row, "prompt").get("raw")
    output = response.get("output")
    usage = inner(response, "tokenUsage") or inner(row, "tokenUsage")
    failed = row.get("failureReason") == _ERROR or (output is None and bool(row.get("error")))
    latency = number_of(row.get("latencyMs"))
    stop = shown(response.get("finishReason")) or None
    why = " ".join(shown(grading.get("reason")).split())[:400]
    if not isinstance(row.get("success"), bool) and not failed:
        raise LogError(f"{where} does not say whether it passed ('success').")
    return Item(
        id=id,
        epoch=epoch,
        messages=_prompt(prompt),
        target=_expected(row),
        answer=None if failed else shown(output),
        metrics={} if failed else _scores(row, bad),
        explanations=dict.fromkeys(("pass", "score"), why),
        doc_hash=hash_of([row.get("vars"), inner(row, "testCase").get("assert")]),
        prompt_hash=None if prompt is None else hash_of(prompt),
        error=" ".join(shown(row.get("error")).split())[:400] or "error" if failed else None,
        finish_reason=stop,
        prompt_tokens=count_of(usage.get("prompt")),
        completion_tokens=count_of(usage.get("completion")),
        seconds=None if latency is None else latency / 1000,
    )


def _scores(row: Mapping[str, Any], bad: set[str]) -> dict[str, float | None]:
    metrics = {"pass": share_of(row.get("success")), "score": share_of(row.get("score"))}
    named = inner(row, "namedScores")
    metrics |= {name: share_of(value) for name, value in named.items() if name not in metrics}
    bad.update(name for name, value in metrics.items() if value is None)
    return metrics


def _prompt(raw: Any) -> tuple[Message, ...]:
    """Return the turns of a prompt, which for chat is a JSON list as text."""
    if isinstance(raw, str) and raw.lstrip().startswith("["):
        try:
            turns = messages_of(parse(raw.encode("utf-8", "replace"), "the prompt"))
        except LogError:
            turns = ()
        if turns:
            return turns
    return messages_of(raw)


def _expected(row: Mapping[str, Any]) -> str:
    found = inner(row, "testCase").get("assert")
    checks = [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
    return "; ".join(f"{shown(one.get('type'))}: {shown(one.get('value'))}" for one in checks)[:500]


FORMATS.register("promptfoo")(LogFormat("promptfoo results", matches, read))
