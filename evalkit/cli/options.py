"""Flags that several verbs share: the same words everywhere."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from evalkit.errors import UsageError

if TYPE_CHECKING:
    from evalkit.config import Config

F = TypeVar("F", bound=Callable[..., Any])
Option = Callable[[F], F]


_SHARE = re.compile(r"(?P<number>[0-9]+(\.[0-9]*)?|\.[0-9]+)\s*(?P<percent>%?)")
_SIZE = re.compile(
    r"(?P<number>[0-9]{1,12}(\.[0-9]{1,6})?)\s*((?P<unit>[kmg])?(?P<binary>(?<=[kmg])i)?b)?", re.I
)
_RULE = "Write 6%, 0.06 or 6: a number below 1 is a share, any other is percent."


class Folder(click.Path):
    """A folder that is named: an empty text would be the current one."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Refuse an empty text."""
        if value == "":
            self.fail("is empty: name a folder.", param, ctx)
        return super().convert(value, param, ctx)


def _connections(
    _ctx: click.Context, _param: click.Parameter, value: str | None
) -> int | str | None:
    """Read a number or `auto`; its range the configuration says, for files too."""
    if value is None or value == "auto":
        return value
    if not value.isdecimal():
        raise click.BadParameter(f"'{value}' is neither a number nor 'auto'.")
    return int(value)


CONFIG = click.option(
    "-c",
    "--config",
    "config_path",
    type=click.Path(path_type=Path),
    help="Configuration file (YAML); make one with `evalkit init`.",
)
SET = click.option(
    "--set",
    "overrides",
    multiple=True,
    metavar="KEY=VALUE",
    help="Override a key of the configuration, e.g. sampling.temperature=0.7. Repeatable.",
)
TASKS = click.option(
    "-t",
    "--tasks",
    multiple=True,
    metavar="NAME",
    help="Tasksets or families, by name, folder or file; public sets (gsm8k, gsm8k:FILE, "
    "hf:ORG/NAME), tasks of lm-eval (lm-eval:TASK); comma-separated or repeated. Default: all.",
)
LANGUAGES = click.option(
    "--languages",
    type=click.Choice(["en", "zh"]),
    multiple=True,
    help="Only prompts in this language; repeatable. Default: all.",
)
SUITE = click.option(
    "--suite",
    type=click.Choice(["smoke", "quick", "standard", "full"]),
    help="Ask prompts made afresh from --seed: 25, 100, 300 or 3000 a family.",
)
LIMIT = click.option(
    "-n",
    "--limit",
    type=click.IntRange(min=1),
    help="At most so many samples a taskset, drawn at random under --seed.",
)
STAGE_2 = click.option(
    "--stage-2",
    type=click.IntRange(min=1),
    help="Second stage of a two-stage plan: so many further samples a taskset, none asked before.",
)
EPOCHS = click.option("--epochs", type=click.IntRange(min=1), help="Repeats of each sample.")
PASS_AT = click.option(
    "--pass-at",
    type=click.IntRange(min=1),
    multiple=True,
    metavar="K",
    help="Also with several answers to a prompt: the chance that one of K is right; repeatable. "
    "Default: 1, 2, 3, 5, 10, ... as far as the answers go.",
)
SEED = click.option("--seed", type=int, help="Seed of the draw and of the order.")
AA = click.option(
    "--aa",
    metavar="SHARE",
    help="Share of the prompts that the baseline is asked twice, which measures how often it "
    "differs from itself: 10%, 0.1 or 10; 0 for none. Default: 10%.",
)
CONNECTIONS = click.option(
    "-j",
    "--max-connections",
    callback=_connections,
    metavar="NUMBER|auto",
    help="Requests in flight, the same for every endpoint. auto: find the fastest without errors.",
)
ALLOW_CODE = click.option(
    "--allow-code",
    is_flag=True,
    default=None,
    help="Run code answers in the sandbox; without it the code family is left out.",
)
SKIP_FAULTY = click.option(
    "--skip-faulty",
    is_flag=True,
    default=None,
    help="Leave out prompts of public sets whose label is known to be wrong.",
)
INCLUDE_PATH = click.option(
    "--include-path",
    multiple=True,
    metavar="FOLDER",
    help="Folder of lm-eval tasks of your own; comes before lm-eval's own. May be repeated.",
)
JUDGE = click.option(
    "--judge",
    metavar="ENDPOINT",
    help="A model that decides where rules are too weak: an endpoint of the configuration, "
    "URL#model, or one of the embedded model. none: rules alone.",
)
PROCESSES = click.option(
    "--processes",
    type=click.IntRange(min=1),
    help="Processes that score at most. Default: one a processor.",
)
REDACT = click.option(
    "--redact",
    is_flag=True,
    default=None,
    help="Keep no prompt, target or answer, on disk or in reports: keyed hashes instead.",
)
ALLOW_CONFOUNDED = click.option(
    "--allow-confounded",
    is_flag=True,
    default=None,
    help="Go on although an endpoint fails the preflight, or differs in more than quantization.",
)
AGAINST = click.option(
    "--against",
    type=Folder(path_type=Path),
    help="Take a stored release as the baseline: its run folder, or its comparison folder.",
)
AGAINST_ARM = click.option(
    "--against-arm",
    metavar="NAME",
    help="Which arm of that comparison: baseline, candidate or its name. Default: the one that "
    "was recommended.",
)
FRESH = click.option("--fresh", is_flag=True, help="Throw recorded answers away and ask again.")
OUTPUT = click.option(
    "-o",
    "--output",
    type=Folder(path_type=Path),
    help="Folder for everything that is written.",
)
DISPLAY = click.option(
    "--display",
    type=click.Choice(["rich", "plain", "none"]),
    help="Progress on stderr. Default: rich on a terminal, plain elsewhere.",
)
JSON = click.option("--json", "as_json", is_flag=True, help="Machine-readable result on stdout.")
QUIET = click.option("-q", "--quiet", is_flag=True, help="No progress, result only.")
VERBOSE = click.option("-v", "--verbose", is_flag=True, help="Tell what happens, on stderr.")
LANG = click.option(
    "--lang", type=click.Choice(["en", "zh"]), default="en", help="Language of the report."
)
HTML = click.option(
    "--html", "html_path", type=click.Path(path_type=Path), help="Also write the page there."
)
MARKDOWN = click.option(
    "--md", "md_path", type=click.Path(path_type=Path), help="Also write Markdown there."
)
JUNIT = click.option(
    "--junit", "junit_path", type=click.Path(path_type=Path), help="Also write JUnit XML there."
)
EMBED = click.option(
    "--embed",
    type=click.Choice(["all", "flips", "none"]),
    help="Pairs that the page holds with their texts. Default: all flips, then answers that are "
    "missing or broken, then others by chance, until there are 2,000; with --embed-budget as "
    "many as it holds. all: every pair, whatever it takes.",
)
EMBED_BUDGET = click.option(
    "--embed-budget",
    metavar="SIZE",
    help="What embedded pairs may take of the page, e.g. 50MB or 500kB; 20MB where nothing is "
    "said.",
)

INCONCLUSIVE = click.option(
    "--inconclusive",
    type=click.Choice(["skipped", "failed"]),
    default="skipped",
    help="What an undecided test counts as in JUnit; the exit code stays 4.",
)


def together(*options: Option[Any]) -> Callable[[F], F]:
    """Return one decorator that adds all options, in the order in which they stand."""

    def decorate(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


COLLECTING = together(
    CONFIG,
    SET,
    TASKS,
    LANGUAGES,
    SUITE,
    LIMIT,
    STAGE_2,
    EPOCHS,
    PASS_AT,
    SEED,
    CONNECTIONS,
    ALLOW_CODE,
    SKIP_FAULTY,
    INCLUDE_PATH,
    REDACT,
    FRESH,
    OUTPUT,
)


def _by_task(
    _ctx: click.Context, param: click.Parameter, values: tuple[str, ...]
) -> dict[str, str] | None:
    """Read `TASK=WORD` or `WORD`, which is for every task."""
    pairs = [value.rpartition("=") for value in values]
    for (task, _, word), value in zip(pairs, values, strict=True):
        if not word or value.startswith("="):
            raise click.BadParameter(f"'{value}' is not of the form NAME or TASK=NAME.")
        if task in [other for other, _, name in pairs if name != word]:
            raise click.BadParameter(f"{param.opts[0]} says two things of the same task.")
    return {task or "*": word for task, _, word in pairs} or None


FAMILY = click.option(
    "--family",
    "families",
    multiple=True,
    callback=_by_task,
    metavar="[TASK=]FAMILY",
    help="Of a log of another tool: what a task measures; repeatable. Default: by its name.",
)
METRIC = click.option(
    "--metric",
    "metrics",
    multiple=True,
    callback=_by_task,
    metavar="[TASK=]METRIC",
    help="Of a log of another tool: which of its scores counts; repeatable. Default: see "
    "docs/importing.md.",
)
LOGS = together(FAMILY, METRIC)
MARGIN = click.option("--margin", type=float, help="Acceptable pooled loss of accuracy, in points.")
POLICY = click.option(
    "--policy",
    "policy_path",
    type=click.Path(path_type=Path),
    help="File with the decision rule's numbers (the keys of `policy`), or one that ships: "
    "default, strict, two-stage, sequential.",
)
DECIDING = together(MARGIN, POLICY)
TALKING = together(DISPLAY, JSON, QUIET, VERBOSE)
RENDERING = together(LANG, HTML, MARKDOWN, JUNIT, INCONCLUSIVE, EMBED, EMBED_BUDGET)


def names(tasks: Sequence[str]) -> tuple[str, ...]:
    """Split comma-separated names.

    Raises:
        UsageError: When something was given and it names nothing: an unset variable must
            not mean "all".
    """
    found = tuple(name.strip() for word in tasks for name in word.split(",") if name.strip())
    if tasks and not found:
        raise UsageError("--tasks is empty.", hint="Leave it out to ask all tasksets.")
    return found


def share(name: str, text: str) -> float:
    """Read a share: with a percent sign percent; else below 1 a share, from 1 on percent.

    Raises:
        UsageError: For what is no number, or above 100%.
    """
    found = _SHARE.fullmatch(text.strip())
    if found is None:
        raise UsageError(f"{name} is '{text[:40]}', which is not a share.", hint=_RULE)
    number = float(found["number"])
    value = number if number < 1 and not found["percent"] else number / 100
    if value > 1:
        raise UsageError(f"{name} is '{text[:40]}', which is more than 100%.", hint=_RULE)
    return value


def size(name: str, text: str) -> int:
    """Read a size: bytes, or a number with kB, MB or GB (thousands), or KiB, MiB or GiB.

    Raises:
        UsageError: For what is none.
    """
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise UsageError(f"{name} is '{text[:40]}', which is no size.", hint="Write 20MB or 500kB.")
    step = 1024 if found["binary"] else 1000
    return int(float(found["number"]) * step ** "_kmg".index((found["unit"] or "_").lower()))


def read_config(
    config_path: Path | None,
    overrides: Sequence[str],
    flags: Mapping[str, Any],
    policy_path: Path | None = None,
    margin: float | None = None,
) -> Config:
    """Read the configuration; what was given as a flag wins over what the file says.

    Args:
        config_path: The file, if any.
        overrides: Values of `--set`.
        flags: Top-level keys of the configuration; `None` and `()` mean "not given". `judge`
            is the name of an endpoint.
        policy_path: A file whose keys replace the policy's.
        margin: Pooled margin of accuracy in points; it wins over the file.

    Raises:
        ConfigError: One sentence with file and key.
    """
    from evalkit.config import check_config, load_config
    from evalkit.policy import read_policy

    config = load_config(config_path, overrides)
    given = {key: value for key, value in flags.items() if value not in (None, ())}
    if isinstance(given.get("judge"), str):
        options = {} if config.judge is None else config.judge.model_dump()
        given["judge"] = {**options, "endpoint": given["judge"]}
    if policy_path is not None:
        given["policy"] = read_policy(policy_path).model_dump()
    if margin is not None:
        policy = given.get("policy", config.policy.model_dump())
        margins = {**policy["margins"], "accuracy": margin}
        given["policy"] = {**policy, "margins": margins}
    if not given:
        return config
    # What was never set must not look as if it was.
    whole = {**config.model_dump(exclude_unset=True), **given}
    return check_config(whole, where="the command line")
