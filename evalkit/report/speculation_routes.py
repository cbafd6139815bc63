"""Routes as sentences, and as the file that a gateway may read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from evalkit.estimates import Estimate
from evalkit.performance import Performance
from evalkit.report import numbers
from evalkit.report.performance_numbers import estimate, times
from evalkit.report.store import plain
from evalkit.report.text import one_line
from evalkit.report.words import Words
from evalkit.speculation import (
    OFF,
    ROUTING_VERSION,
    Route,
    RoutedArm,
    Routing,
    RoutingTable,
    Speculation,
)

_DIGITS = 6
_HEAD = (
    "# Which requests should speculate, as `evalkit probe --speculation` measured it. `choice` is\n"
    "# one of `arms`, or null where too little was measured. Schema: evalkit schema routing\n"
)


def route_rows(words: Words, found: Speculation) -> Iterator[tuple[str, ...]]:
    """Yield case, choice and reason of each route."""
    for route in found.routes:
        case = words.name("spec.case", one_line(route.case))
        choice = numbers.DASH if route.choice is None else one_line(route.choice)
        yield case, choice, why(words, route, found)


def why(words: Words, route: Route, found: Speculation) -> str:
    """Say why, with the figures."""
    order = [arm.label for arm in found.arms if arm.label != OFF]
    facts = {
        "metric": words(f"spec.metric.{route.metric}", tokens=numbers.count(found.answer_tokens)),
        "ratios": _listed(words, route.ratios, order),
        "choice": one_line(route.choice or numbers.DASH),
    }
    parts = [words(f"spec.why.{route.rule}", **facts)]
    if route.deeper is not None:
        key = "deeper" if route.rule == "deeper" else "not_deeper"
        parts.append(words(f"spec.why.{key}.ratio", ratio=estimate(route.deeper, times)))
    elif route.case == "templated_code" and len(order) == 1 and route.choice is not None:
        parts.append(words("spec.why.one_depth"))
    if route.ttft and route.rule != "not_measured":
        parts.append(words("spec.why.ttft", ratios=_listed(words, route.ttft, order)))
    if route.acceptance:
        rates = [
            f"{one_line(label)} {numbers.percent(route.acceptance[label], 0)}"
            for label in order
            if label in route.acceptance
        ]
        parts.append(words("spec.why.acceptance", rates=words("spec.comma").join(rates)))
    told, where = words("spec.stop").join(parts), _where(words, route)
    return words("spec.why.where", why=told, where=where) if where else told


def _where(words: Words, route: Route) -> str:
    if route.rule == "not_measured":
        return ""
    if route.context is not None:
        context, level = numbers.count(route.context), str(route.concurrency)
        return words("spec.where.context", context=context, level=level)
    return words("spec.where.level", level=str(route.concurrency))


def _listed(words: Words, ratios: Mapping[str, Estimate] | None, order: list[str]) -> str:
    known = ratios or {}
    return words("spec.comma").join(
        f"{one_line(label)} {estimate(known[label], times)}" for label in order if label in known
    )


def routing_of(found: Performance) -> Routing:
    """Return the routes of every build; reasons are in English."""
    words = Words("en")
    tables = tuple(
        RoutingTable(
            one.group,
            {arm.label: RoutedArm(arm.arm, arm.depth, arm.crossover) for arm in one.arms},
            tuple(replace(route, why=why(words, route, one)) for route in one.routes),
        )
        for one in found.speculation
    )
    return Routing(ROUTING_VERSION, found.evalkit_version, found.created, tables)


def dump_routing(found: Performance) -> str:
    """Return the content of `routing.yaml`."""
    import yaml

    body = _short(plain(routing_of(found)))
    return _HEAD + yaml.safe_dump(body, sort_keys=False, allow_unicode=True, width=100)


def _short(value: object) -> object:
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}")
    if isinstance(value, dict):
        return {key: _short(item) for key, item in value.items()}
    return [_short(item) for item in value] if isinstance(value, list) else value
