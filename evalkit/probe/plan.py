"""What a probe measures: its points, its target, and the words for both."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from evalkit.errors import UsageError
from evalkit.performance import Load, Slo
from evalkit.speculation import OFF
from evalkit.types import Language

CONTEXTS = (1024, 4096, 16384, 65536)
CONCURRENCY = (1, 2, 4)
LEAST_REPEATS = 5
MOST_PROMPTS = 6
"""How many prompts of each kind of work ship, in each language."""

_TOKENS = re.compile(r"(?P<number>[0-9]+(\.[0-9]+)?)\s*(?P<unit>[kKmM]?)")
_TARGET = re.compile(r"(?P<key>[a-z0-9]+)\s*=\s*(?P<number>[0-9]+(\.[0-9]+)?)\s*(?P<unit>ms|s)")
_PART = re.compile(r"(?:(?P<group>[\w.-]+)/)?(?P<label>[\w.-]+)=(?P<target>.+)", re.DOTALL)
_UNITS = {"": 1, "k": 1024, "m": 1024**2}
_MOST = 1 << 24


@dataclass(frozen=True, slots=True)
class SpeculationPlan:
    """How speculative decoding is measured.

    Attributes:
        labels: Of each endpoint, in their order: its build (`None` for the only one) and its
            part (`off`, `on`, `depth3`).
        prompts: Of each kind of work in each language.
        answer_tokens: Of the short answer to a long prompt.
        config: The configuration file as it was named, for the command that compares quality.
    """

    labels: tuple[tuple[str | None, str], ...]
    prompts: int = MOST_PROMPTS
    languages: tuple[Language, ...] = ("en", "zh")
    answer_tokens: int = 32
    config: str | None = None


@dataclass(frozen=True, slots=True)
class ProbePlan:
    """What is measured, and how often.

    Attributes:
        contexts: Tokens of the prompt.
        concurrency: Requests always in flight, closed loop.
        rates: Requests a second, open loop.
        grid: Every load at every context; else other loads than the first at the shortest
            context alone.
        output_tokens: Tokens of each answer.
        repeats: Rounds at each point.
        requests: Each worker's requests in a round; in an open loop ten times as many come.
        prefix_cache: Whether prompts share their beginning on purpose.
        slo: What a good request keeps.
        price: Of an hour.
        prices: Of an hour, by endpoint, where they differ.
        together: Whether servers that evalkit starts may all be up at once.
        seed: Of prompts, arrivals and resampling.
        speculation: How speculative decoding is measured; `None`: not at all. Other loads than
            the first then go onto its mix of work.
    """

    contexts: tuple[int, ...] = CONTEXTS
    concurrency: tuple[int, ...] = CONCURRENCY
    rates: tuple[float, ...] = ()
    grid: bool = False
    output_tokens: int = 128
    repeats: int = 6
    requests: int = 2
    prefix_cache: bool = False
    slo: Slo | None = None
    price: float | None = None
    prices: Mapping[str, float] = field(default_factory=dict)
    together: bool = False
    seed: int = 0
    speculation: SpeculationPlan | None = None

    def loads(self, context: int) -> tuple[Load, ...]:
        """Return the loads at a context."""
        loads = [Load("closed", float(level)) for level in self.concurrency]
        loads += [Load("open", rate) for rate in self.rates]
        every = self.speculation is None and context == min(self.contexts)
        return tuple(loads if self.grid or every else loads[:1])

    def round_size(self, load: Load) -> int:
        """Return how many requests a round has."""
        return self.requests * (10 if load.mode == "open" else int(load.level))


def read_tokens(text: str) -> tuple[int, ...]:
    """Read numbers of tokens: `1K,4K,16384`; K is 1,024.

    Raises:
        UsageError: For anything else.
    """
    found = []
    for word in _words(text):
        match = _TOKENS.fullmatch(word)
        number = float(match["number"]) * _UNITS[match["unit"].lower()] if match else 0.0
        if not 1 <= number <= _MOST or number != int(number):
            raise UsageError(
                f"'{word[:40]}' is not a number of tokens.", hint="Write e.g. 1K,4K,16K."
            )
        found.append(int(number))
    return tuple(sorted(set(found)))


def read_levels(text: str) -> tuple[int, ...]:
    """Read numbers of requests in flight: `1,2,4`.

    Raises:
        UsageError: For anything else.
    """
    words = _words(text)
    if not all(re.fullmatch("[0-9]{1,4}", word) and int(word) for word in words):
        raise UsageError(
            f"--concurrency is '{text[:40]}', which is no list of numbers from 1 to 9999.",
            hint="Write e.g. 1,2,4.",
        )
    return tuple(sorted({int(word) for word in words}))


def read_rates(text: str) -> tuple[float, ...]:
    """Read rates in requests a second: `0.5,2`.

    Raises:
        UsageError: For anything else.
    """
    words = _words(text)
    if not all(re.fullmatch(r"[0-9]{1,5}(\.[0-9]{1,4})?", w) and float(w) > 0 for w in words):
        raise UsageError(
            f"--rate is '{text[:40]}', which is no list of requests a second.",
            hint="Write e.g. 0.5,2.",
        )
    return tuple(sorted({float(word) for word in words}))


def read_slo(text: str) -> Slo:
    """Read a target: `ttft=500ms,itl=50ms,e2e=10s`.

    Raises:
        UsageError: For a key that is not known or a time without its unit.
    """
    found: dict[str, float] = {}
    for word in _words(text):
        match = _TARGET.fullmatch(word)
        if match is None or match["key"] not in ("ttft", "itl", "e2e") or match["key"] in found:
            raise UsageError(
                f"'{word[:40]}' is not a target.",
                hint="Write e.g. ttft=500ms,itl=50ms,e2e=10s, each once.",
            )
        seconds = float(match["number"]) / (1000 if match["unit"] == "ms" else 1)
        if not seconds:
            raise UsageError(f"'{word[:40]}' is no time.", hint="A target is more than 0.")
        found[match["key"]] = seconds
    return Slo(**found)


def read_prices(text: str) -> tuple[float | None, dict[str, float]]:
    """Read prices of an hour: `2.5` for all, `a=4.1,b=2.0` for each.

    Raises:
        UsageError: For anything else.
    """
    single: float | None = None
    each: dict[str, float] = {}
    for word in _words(text):
        # Names may hold the sign themselves, as addresses do.
        name, sign, number = word.rpartition("=")
        known = re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,6})?", number.strip())
        price = float(number) if known else 0.0
        twice = name.strip() in each if sign else single is not None
        if price <= 0 or twice or (sign and not name.strip()):
            raise UsageError(
                f"'{word[:40]}' is no price of an hour.",
                hint="Write e.g. --price 2.5, or --price a=4.1,b=2.0, each once.",
            )
        if sign:
            each[name.strip()] = price
        else:
            single = price
    return single, each


def read_parts(
    words: Sequence[str],
) -> tuple[tuple[str, ...], tuple[tuple[str | None, str], ...]]:
    """Read who speculates: `on=URL#model off=URL#model`, of several builds `int4/on=...`.

    Returns:
        Targets, and the build and part of each; of every build the one without speculation
        first. A single target without a part speculates.

    Raises:
        UsageError: When a part is missing or given twice.
    """
    if len(words) == 1 and not _PART.fullmatch(words[0]):
        return (words[0],), ((None, "on"),)
    found: dict[tuple[str | None, str], str] = {}
    for word in words:
        match = _PART.fullmatch(word)
        if match is None:
            raise UsageError(
                "With --speculation each endpoint says what it is.",
                hint="Write e.g. on=URL#MODEL off=URL#MODEL; of several builds int4/on=....",
            )
        key = (match["group"], match["label"])
        if key in found:
            raise UsageError(f"'{word.partition('=')[0]}' is given twice.")
        found[key] = match["target"]
    groups = list(dict.fromkeys(group for group, _ in found))
    for group in groups:
        labels = [label for name, label in found if name == group]
        if labels == [OFF] or (len(labels) > 1 and OFF not in labels):
            where = f" of {group}" if group else ""
            missing = "an endpoint that speculates" if labels == [OFF] else "off=..."
            raise UsageError(
                f"--speculation lacks {missing}{where}.",
                hint="Write e.g. on=URL#MODEL off=URL#MODEL.",
            )
    keys = sorted(found, key=lambda key: (groups.index(key[0]), key[1] != OFF))
    return tuple(found[key] for key in keys), tuple(keys)


def _words(text: str) -> Sequence[str]:
    words = [word.strip() for word in text.split(",")]
    if not all(words):
        raise UsageError(f"'{text[:40]}' has an empty place.", hint="Write e.g. 1,2,4.")
    return words
