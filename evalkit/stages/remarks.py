"""What a reader must know of measured points, read off the figures themselves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evalkit.performance import ArmPoint, Point, Remark

# A client's lag that is worth a word: in seconds, and of the time to the first token.
_LATE, _LATE_SHARE = 0.01, 0.1
_SHORT = 0.98


def remarks_of(points: Sequence[Point], output_tokens: int) -> Iterator[Remark]:
    """Yield the remarks, each once an arm where it speaks of the whole arm."""
    names = dict.fromkeys(name for one in points for name in one.arms)
    for name in names:
        arms = [one.arms[name] for one in points if name in one.arms]
        yield from _of_arm(name, arms, output_tokens)
    for one in points:
        for name, arm in one.arms.items():
            yield from _of_point(name, one, arm)


def _of_arm(name: str, arms: Sequence[ArmPoint], output_tokens: int) -> Iterator[Remark]:
    answered = [arm for arm in arms if arm.n_answered]
    if not answered:
        yield Remark("NO_ANSWER", {"endpoint": name})
        return
    tokens = [arm.completion_tokens for arm in answered if arm.completion_tokens is not None]
    if not tokens:
        yield Remark("NO_USAGE", {"endpoint": name})
    elif min(tokens) < _SHORT * output_tokens:
        values = {"endpoint": name, "tokens": f"{min(tokens):g}", "asked": str(output_tokens)}
        yield Remark("SHORT_ANSWERS", values)
    if resent := sum(arm.resent for arm in arms):
        yield Remark("RESENT", {"endpoint": name, "n": str(resent)})
    if all(arm.quantiles["ttft"][0].value is None for arm in answered):
        yield Remark("NOT_STREAMED", {"endpoint": name})
    elif any(_in_one_piece(arm) for arm in answered):
        yield Remark("IN_ONE_PIECE", {"endpoint": name})


def _in_one_piece(arm: ArmPoint) -> bool:
    first, decode = (arm.quantiles[metric][0].value for metric in ("ttft", "decode"))
    return first is not None and decode is None and (arm.completion_tokens or 0) > 1


def _of_point(name: str, one: Point, arm: ArmPoint) -> Iterator[Remark]:
    where = {"endpoint": name, "context": f"{one.context:,}", "load": str(one.load)}
    first = next((r for r in arm.repeats if r.replaced), None)
    again = next((r for r in arm.repeats if r.again), None)
    if arm.odd_first and first is not None and again is not None:
        before, after = first.medians["decode"], again.medians["decode"]
        if before is not None and after is not None:
            figures = {"first": f"{before:.1f} tok/s", "again": f"{after:.1f} tok/s"}
            yield Remark("MEASURED_AGAIN", {**where, **figures})
        else:
            e2e = (r.medians["e2e"] for r in (first, again))
            seconds = ["–" if value is None else f"{value:.2f} s" for value in e2e]
            yield Remark("MEASURED_AGAIN", {**where, "first": seconds[0], "again": seconds[1]})
    if not arm.n_answered and arm.failures:
        yield Remark("POINT_FAILED", {**where, "kinds": ", ".join(arm.failures)})
    if not arm.steady and arm.repeats:
        yield Remark("UNSTEADY", where)
    if arm.prompt_tokens is not None and arm.prompt_tokens != (one.context, one.context):
        low, high = arm.prompt_tokens
        counted = f"{low:,}" if low == high else f"{low:,} – {high:,}"
        yield Remark("OTHER_LENGTH", {**where, "counted": counted})
    ttft = arm.quantiles["ttft"][0].value
    if arm.latest > max(_LATE, _LATE_SHARE * (ttft or 0.0)):
        yield Remark("LATE", {**where, "late": f"{arm.latest * 1000:.0f} ms"})
