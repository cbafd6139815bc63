"""The line of releases: one view-model for the page, the console and JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from evalkit import __version__
from evalkit.releases import HistoryBreak, HistoryPoint, PooledMetric, ReleaseHistory
from evalkit.report import numbers
from evalkit.report.estimates import as_difference
from evalkit.report.flat import date, iso
from evalkit.report.history_model import HistoryPlot, HistoryRow, HistoryView, PlotPoint
from evalkit.report.model import Number
from evalkit.report.release import change_line, change_summary, snapshot_block, snapshot_summary
from evalkit.report.text import one_line
from evalkit.report.verdicts import gate, state_of_exit
from evalkit.report.words import Words
from evalkit.rulings import VerdictState

METRICS: Final = ("accuracy", "hallucination", "degenerate")
_EXIT: Final = {"SHIP": 0, "HOLD": 3, "INCONCLUSIVE": 4, "INVALID": 5}
_BREAKS_SHOWN: Final = 6


def build_history(history: ReleaseHistory, lang: str = "en") -> HistoryView:
    """Return all that is shown of a line of releases.

    Args:
        history: With at least one point.
        lang: `en` or `zh`.

    Raises:
        UnknownNameError: For a language without a catalogue.
    """
    words = Words(lang)
    rows = tuple(_row(words, point) for point in history.points)
    target = None if history.rollback is None else snapshot_block(words, history.rollback)
    unread = tuple((one_line(u.folder), one_line(u.reason)) for u in history.unread)
    return HistoryView(
        lang=lang,
        html_lang=words.html_lang,
        gate=gate(words, state_of_exit(history.exit_code), history.exit_code),
        title=words("history.title", folder=one_line(history.folder)),
        sentence=_sentence(words, rows),
        rollback=words("rollback.none") if target is None else target.text,
        target=target,
        rows=rows,
        plots=tuple(_plots(words, history.points, rows)),
        metrics=tuple((name, words(f"metric.{name}")) for name in METRICS),
        breaks=tuple(_broken(words, rows)),
        unread=unread,
        unread_lines=tuple(words("history.unread", folder=f, reason=why) for f, why in unread),
        evalkit_version=__version__,
        ui=words.ui(),
    )


def history_summary(view: HistoryView) -> dict[str, Any]:
    """Return a line of releases for machines: fractions, words and folders."""
    return {
        "evalkit_version": view.evalkit_version,
        "verdict": view.gate.state,
        "exit_code": view.gate.exit_code,
        "sentence": view.sentence,
        "rollback": None if view.target is None else snapshot_summary(view.target),
        "releases": [_summary(row) for row in view.rows],
        "unread": [{"folder": folder, "reason": reason} for folder, reason in view.unread],
    }


def _summary(row: HistoryRow) -> dict[str, Any]:
    return {
        "folder": row.folder,
        "created": row.timestamp,
        "model": row.model,
        "baseline": row.baseline,
        "candidate": row.candidate,
        "label": row.label,
        "verdict": row.gate.state,
        "exit_code": row.gate.exit_code,
        "n": row.n,
        "policy_hash": row.policy_hash,
        "metrics": {
            name: {
                "value": number.value,
                "low": number.low,
                "high": number.high,
                "margin": row.margins[name],
                "text": number.told,
            }
            for name, number in row.metrics.items()
        },
        "change": None if row.change is None else change_summary(row.change),
        "breaks": list(row.breaks),
        "rollback": row.rollback_folder,
    }


def _row(words: Words, point: HistoryPoint) -> HistoryRow:
    back = point.rollback
    return HistoryRow(
        folder=one_line(point.folder),
        date=date(point.created),
        timestamp=iso(point.created),
        model=one_line(point.model),
        baseline=one_line(point.baseline),
        candidate=one_line(point.candidate),
        label=one_line(point.label),
        gate=gate(words, point.state, _EXIT[point.state.value]),
        n=point.n,
        n_text=numbers.count(point.n),
        policy_hash=one_line(point.policy_hash),
        metrics={one.metric: as_difference(words, one.difference) for one in point.metrics},
        margins={one.metric: one.margin for one in point.metrics},
        change=None if point.change is None else change_line(words, point.change),
        breaks=tuple(_break(words, one) for one in point.breaks),
        rollback=""
        if back is None
        else words("history.back", folder=one_line(back[0]), endpoint=one_line(back[1])),
        rollback_folder=None if back is None else one_line(back[0]),
    )


def _sentence(words: Words, rows: Sequence[HistoryRow]) -> str:
    newest = [row for row in rows if row.folder == rows[-1].folder]
    gap = "" if words.lang == "zh" else " "
    return gap.join(
        words(
            "history.also" if place else "history.lead",
            n=numbers.count(len(rows)),
            verdict=row.gate.word,
            candidate=row.candidate,
            baseline=row.baseline,
            difference=row.metrics["accuracy"].text,
            interval=row.metrics["accuracy"].interval or row.metrics["accuracy"].note,
            date=row.date,
        )
        for place, row in enumerate(newest)
    )


def _break(words: Words, one: HistoryBreak) -> str:
    return words(
        "break",
        group=words(f"break.{one.group}"),
        name=one_line(one.name),
        before=one_line(one.before, 60),
        after=one_line(one.after, 60),
    )


def _broken(words: Words, rows: Sequence[HistoryRow]) -> Iterator[str]:
    for row in rows:
        if row.breaks:
            shown = list(row.breaks[:_BREAKS_SHOWN])
            rest = len(row.breaks) - len(shown)
            shown += [words("break.more", n=str(rest))] if rest else []
            what = "; ".join(shown)
            yield words("history.broken", folder=row.folder, date=row.date, what=what)


def _plots(
    words: Words, points: Sequence[HistoryPoint], rows: Sequence[HistoryRow]
) -> Iterator[HistoryPlot]:
    folders = list(dict.fromkeys(point.folder for point in points))
    dates = {row.folder: row.date for row in rows}
    broken = {point.folder for point in points if point.breaks}
    for metric in METRICS:
        found = [
            (point, row, one)
            for point, row in zip(points, rows, strict=True)
            for one in point.metrics
            if one.metric == metric
        ]
        if not any(one.difference.value is not None for _, _, one in found):
            continue
        name = words(f"metric.{metric}")
        yield HistoryPlot(
            key=metric,
            title=words("history.chart", metric=name),
            description=words("history.chart.text", metric=name, n=str(len(found))),
            margin_word=words("history.margin"),
            zero_word="0",
            dates=tuple(dates[folder] for folder in folders),
            broken=tuple(folder in broken for folder in folders),
            points=tuple(
                _plot_point(words, folders.index(point.folder), point, row, one)
                for point, row, one in found
            ),
        )


def _plot_point(
    words: Words, place: int, point: HistoryPoint, row: HistoryRow, one: PooledMetric
) -> PlotPoint:
    number: Number = row.metrics[one.metric]
    text = words(
        "history.point",
        date=row.date,
        candidate=row.candidate,
        baseline=row.baseline,
        difference=number.text,
        interval=number.interval or number.note,
        verdict=row.gate.word,
    )
    # What is not comparable has no place on a line.
    joined = not point.breaks and point.state is not VerdictState.INVALID
    margin = -one.margin if one.metric == "accuracy" else one.margin
    name = row.candidate
    return PlotPoint(place, point.series, name, joined, number, margin, row.gate, text)
