"""Tasks of lm-eval: definitions, few-shot examples, filters and metrics are lm-eval's own.

Prompts are the texts that lm-eval
makes without a chat template: a completions endpoint with `chat_template: plain` is sent the
very text, and a chat gets it as one message of the user. Asked, recorded and paired they are
like all others; the scorer `harness` gives the answers back to lm-eval.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from evalkit.errors import MissingExtraError, TasksetError, UnknownNameError
from evalkit.tasksets.harness_files import (
    INSTALL,
    find_definitions,
    near_names,
    read_task_file,
)
from evalkit.tasksets.harness_reference import Reference, parse_reference
from evalkit.tasksets.head import Head
from evalkit.tasksets.hub import reachable_or_offline
from evalkit.tasksets.jsonl import taskset_of
from evalkit.tasksets.rows import Row, checked
from evalkit.types import CONTINUATION, Family, Message, Sample, Taskset

SCORER = "harness"
_KINDS = ("generate_until", "multiple_choice", "loglikelihood")
# As `lm_eval` itself has them.
_FEWSHOT_SEED, _RANDOM_SEED, _MAX_TOKENS = 1234, 0, 256
_LOCAL_BUILDERS = frozenset({"json", "csv", "parquet", "text", "arrow", "pandas"})
_HAN = re.compile(r"[\u4e00-\u9fff]")
_FAMILIES: tuple[tuple[re.Pattern[str], Family], ...] = (
    (re.compile(r"gsm|math|aime|asdiv|svamp|arithmetic|minerva|mawps"), Family.MATH),
    (re.compile(r"ifeval|ifbench"), Family.INSTRUCTIONS),
    (re.compile(r"ruler|niah|longbench|babilong"), Family.LONGFORM),
)


def load_harness(text: str) -> list[Taskset]:
    """Load a task, or all tasks of a group or tag.

    Raises:
        MissingExtraError: When lm-eval, or what the task needs, is not installed.
        UnknownNameError: For a metric or a filter that the task has not.
        TasksetError: When nobody defines that name, or it cannot be asked.
    """
    reference = parse_reference(text)
    tasks = load_tasks(reference)
    alone = len(tasks) == 1 and reference.name in tasks
    return [
        _taskset(task, reference if alone else replace(reference, name=name))
        for name, task in tasks.items()
    ]


@cache
def load_tasks(reference: Reference) -> Mapping[str, Any]:
    """Return lm-eval's task objects by name.

    Raises:
        MissingExtraError: When lm-eval, or what the task needs, is not installed.
        TasksetError: When nobody defines that name, or lm-eval cannot use it.
    """
    own = [Path(one) for one in reference.folders]
    files = find_definitions(reference.name, own)
    if not files:
        near = near_names(reference.name, own)
        raise TasksetError(
            f"lm-eval has no task, group or tag '{reference.name}'.",
            hint=f"Did you mean {' or '.join(near)}?" if near else "`lm_eval ls tasks` lists them.",
        )
    told = [(path, read_task_file(path)) for path in files]
    for path, config in told:
        _refuse_code(config, path)
    try:
        from lm_eval.tasks import TaskManager
    except ImportError:
        raise MissingExtraError("An lm-eval task", INSTALL) from None
    folders = dict.fromkeys([*(str(path.parent) for path in files), *reference.folders])
    hubs = {str(c["dataset_path"]) for _, c in told if c.get("dataset_path")}
    with reachable_or_offline(sorted(hubs - _LOCAL_BUILDERS)), _as_lm_eval_does():
        try:
            manager = TaskManager(include_path=_widest(folders), include_defaults=False)
            return _flat(manager, reference.name)
        except ModuleNotFoundError as error:
            raise MissingExtraError(
                f"lm-eval task '{reference.name}'", f"pip install {error.name}"
            ) from None
        except troubles() as error:
            raise TasksetError(
                f"lm-eval cannot load '{reference.name}': {_said(error)}",
                hint="Without a network its data must be cached (HF_HOME), or a YAML of your own "
                "names local files; see docs/lm-eval.md.",
            ) from None


def _widest(folders: Mapping[str, None]) -> list[str]:
    """Leave out folders within others: lm-eval reads them with these."""
    paths = [Path(one) for one in folders]
    return [str(p) for p in paths if not any(q in p.parents for q in paths)]


def _flat(manager: Any, name: str) -> Mapping[str, Any]:
    if hasattr(manager, "load"):
        found: Mapping[str, Any] = manager.load([name])["tasks"]
        return found
    # lm-eval before 0.4.12 nests groups.
    from lm_eval.tasks import get_task_dict

    flat: dict[str, Any] = {}

    def collect(nested: Mapping[Any, Any]) -> None:
        for key, value in nested.items():
            if isinstance(value, Mapping):
                collect(value)
            else:
                flat[str(key)] = value

    collect(get_task_dict([name], manager))
    return flat


@contextlib.contextmanager
def _as_lm_eval_does() -> Iterator[None]:
    """Seed what tasks draw from, keep bars off the terminal, and put both back."""
    state = random.getstate()
    random.seed(_RANDOM_SEED)
    try:
        quiet = io.StringIO()
        # Bars, and what modules of tasks print when they are imported.
        with contextlib.redirect_stderr(quiet), contextlib.redirect_stdout(quiet):
            yield
    finally:
        random.setstate(state)


def _refuse_code(config: Mapping[str, Any], path: Path) -> None:
    if config.get("unsafe_code"):
        raise TasksetError(
            f"lm-eval task '{config.get('task', path.stem)}' runs answers as programs, outside of "
            "evalkit's sandbox.",
            hint="Ask humaneval or mbpp by name instead: the sandbox runs their tests.",
        )


def _taskset(task: Any, reference: Reference) -> Taskset:
    kind = str(task.OUTPUT_TYPE)
    if kind not in _KINDS:
        raise TasksetError(
            f"lm-eval task '{reference.name}' is of the kind {kind}, which has no value for each "
            "document.",
            hint=f"evalkit asks those of {', '.join(_KINDS)}.",
        )
    if int(task.config.repeats or 1) > 1:
        raise TasksetError(
            f"lm-eval task '{reference.name}' joins {task.config.repeats} answers to one.",
            hint="Take its variant with one answer, and --epochs for repeats.",
        )
    chosen = _chosen(task, reference)
    settings = dict(task.config.generation_kwargs or {})
    until = settings.get("until") or []
    stop = (until,) if isinstance(until, str) else tuple(map(str, until))
    head = Head(
        name=f"lm-eval-{re.sub(r'[^A-Za-z0-9_.-]', '-', reference.name)}",
        version=1,
        family=_family(task, reference.name),
        description=f"{reference.name} of lm-eval, by {chosen.metric} ({chosen.filter})",
        scorer=SCORER,
        max_tokens=int(settings.get("max_gen_toks") or settings.get("max_tokens") or _MAX_TOKENS),
        stop=stop,
    )
    with _as_lm_eval_does():
        rows = list(_rows(task, chosen, head))
    origin = str(reference)
    made = taskset_of(head, Path(reference.name), origin, rows)
    # Not part of the content: the same task may lie elsewhere on another machine.
    told = {"reference": str(chosen)}
    samples = (_with_texts(s, told) for s in made.samples)
    return replace(made, samples=tuple(samples), revision=_revision(task))


def _chosen(task: Any, reference: Reference) -> Reference:
    """Return the reference with the metric and the filter that decide.

    Raises:
        TasksetError: When there are none such.
    """
    means = [
        str(name)
        for name, joined in task.aggregation().items()
        if getattr(joined, "__name__", "") == "mean" and task.higher_is_better().get(name, True)
    ]
    filters = [str(one.name) for one in task._filters]
    for what, wanted, known in (
        ("metric", reference.metric, means),
        ("filter", reference.filter, filters),
    ):
        if wanted is not None and wanted not in known:
            raise UnknownNameError(f"{what} of lm-eval task {reference.name}", wanted, known)
    if not means or not filters:
        raise TasksetError(
            f"lm-eval task '{reference.name}' has no metric that each answer has a value of.",
            hint="Such metrics (perplexity, BLEU, F1 of a whole set) cannot be paired.",
        )
    return replace(
        reference, metric=reference.metric or means[0], filter=reference.filter or filters[0]
    )


def _family(task: Any, name: str) -> Family:
    metadata = task.config.metadata or {}
    told = metadata.get("family") if isinstance(metadata, Mapping) else None
    if told is not None:
        try:
            return Family(told)
        except ValueError:
            raise UnknownNameError(f"family of lm-eval task {name}", str(told), Family) from None
    found = (family for pattern, family in _FAMILIES if pattern.search(name.lower()))
    return next(found, Family.FACTS)


def _rows(task: Any, chosen: Reference, head: Head) -> Iterator[Row]:
    try:
        task.set_fewshot_seed(seed=_FEWSHOT_SEED)
        task.build_all_requests(limit=None, rank=0, world_size=1)
    except troubles() as error:
        raise TasksetError(f"lm-eval cannot ask '{chosen.name}': {_said(error)}") from None
    by_document: dict[int, list[Any]] = {}
    for instance in task.instances:
        by_document.setdefault(instance.doc_id, []).append(instance)
    for instances in by_document.values():
        instance, *_ = sorted(instances, key=lambda one: one.idx)
        text = str(instance.args[0])
        raw = {
            "id": str(instance.doc_id),
            "language": "zh" if 4 * len(_HAN.findall(text)) > len(text) else "en",
            "category": chosen.name,
            "messages": [{"role": "user", "content": text}],
            "target": {
                "metric": f"{chosen.metric}/{chosen.filter}",
                "doc": instance.doc_id,
                "doc_hash": hash_document(instance.doc),
                "answer": str(task.doc_to_target(instance.doc)),
                **_texts(instances),
            },
            # The metric alone decides: lm-eval looks at no language.
            "metadata": {"answer_language": "any"},
        }
        yield checked(raw, head, f"'{chosen}' document {instance.doc_id}")


def _texts(instances: Sequence[Any]) -> dict[str, Any]:
    """Return the texts whose probability is asked, each with its prompt; else nothing.

    Raises:
        TasksetError: When a text has no prompt: lm-eval then needs the model's own first token.
    """
    if instances[0].request_type != "loglikelihood":
        return {}
    asked = [[str(context), str(text)] for context, text in (one.args[:2] for one in instances)]
    if not all(context.strip() for context, _ in asked):
        raise TasksetError(
            "The task asks for probabilities of texts that have no prompt before them.",
            hint="Choose another metric than acc_mutual_info, in a YAML of your own.",
        )
    return {"texts": asked}


def _with_texts(sample: Sample, told: Mapping[str, Any]) -> Sample:
    """Add to a sample's messages the texts whose probability is asked."""
    sample = replace(sample, metadata={**sample.metadata, **told})
    messages: list[Message] = []
    for context, text in sample.target.get("texts", ()):
        if not messages or context != messages_context(messages):
            messages.append(Message("user", context))
        messages.append(Message(CONTINUATION, text))
    return replace(sample, messages=tuple(messages)) if messages else sample


def messages_context(messages: Sequence[Message]) -> str:
    """Return the last message that is a prompt."""
    return next(one.content for one in reversed(messages) if one.role != CONTINUATION)


def hash_document(document: Any) -> str:
    """Hash a document, so that a score is never made with another one."""
    text = json.dumps(document, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:32]


def _revision(task: Any) -> str | None:
    """Return the commit of the hub that the documents were read at, where they were."""
    splits = getattr(task, "dataset", None)
    for split in splits.values() if isinstance(splits, Mapping) else ():
        sums = getattr(getattr(split, "info", None), "download_checksums", None) or {}
        for source in sums:
            found = re.search(r"@([0-9a-f]{40})/", str(source))
            if found:
                return found[1]
    return None


def troubles() -> tuple[type[Exception], ...]:
    """Return what lm-eval raises for a task that cannot be used; it is told in one sentence."""
    from jinja2 import TemplateError

    usual = (AssertionError, AttributeError, ImportError, LookupError, OSError, RuntimeError)
    return (*usual, TypeError, ValueError, yaml.YAMLError, TemplateError)


def _said(error: BaseException) -> str:
    line = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    return f"{type(error).__name__}{': ' if line else ''}{line[:300]}".rstrip(".") + "."
