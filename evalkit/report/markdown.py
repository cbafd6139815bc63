"""The report as Markdown, small enough for a pull-request comment."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from evalkit.report.model import CandidateBlock, SampleCard, View
from evalkit.report.release import release_lines

MAX_BYTES: Final = 60_000
_FLIPS_SHOWN: Final = 10
_CELL: Final = 160
_SPECIAL: Final = re.compile(r"([\\`*_{}\[\]<>#|~$!])")
# GitHub looks for mentions and issues in the text that was rendered, where neither an entity
# nor a backslash is left: only something in between that nobody sees keeps them apart.
_APART: Final = "&#8203;"
_ISSUE: Final = re.compile(r"(\\#|\bGH-)(?=[0-9])", re.I)
_AUTOLINK: Final = re.compile(r"(?i)(\b(?:https?|ftp|mailto|xmpp):|\bwww\.)")
_TICKS: Final = re.compile("`+")


def render_markdown(*views: View) -> str:
    """Return GitHub-flavoured Markdown of at most `MAX_BYTES` bytes.

    Every text of a model or a server is escaped: no markup, link or mention comes through.
    Regressions give way first when the text grows too long; then whole lines, and the last
    one says so.

    Args:
        views: One comparison each.
    """
    lines: list[str] = []
    for shown in (_FLIPS_SHOWN, 3, 0):
        lines = [line for view in views for line in (*_lines(view, shown), "")]
        text = "\n".join(lines)
        if len(text.encode()) <= MAX_BYTES:
            return text
    return _cut(lines, escaped(views[0].ui["cut"]))


def _cut(lines: Sequence[str], notice: str) -> str:
    """Keep the first lines that leave room for a notice."""
    end = f"\n**{notice}**\n"
    room = MAX_BYTES - len(end.encode())
    kept: list[str] = []
    for line in lines:
        room -= len(line.encode()) + 1
        if room < 0:
            break
        kept.append(line)
    return "\n".join([*kept, end])


def escaped(text: str) -> str:
    """Escape a text for a place where Markdown is read, on one line."""
    line = " ".join(text.split())
    line = _SPECIAL.sub(r"\\\1", line)
    line = line.replace("&", "&amp;").replace("@", f"@{_APART}")
    line = _ISSUE.sub(rf"\1{_APART}", line)
    return _AUTOLINK.sub(lambda m: f"{m.group()[:-1]}\\{m.group()[-1]}", line)


def code(text: str) -> str:
    """Return a text as a code span for a table cell, shortened, on one line."""
    line = " ".join(text.split())
    line = f"{line[:_CELL]}…" if len(line) > _CELL else line
    if not line:
        return ""
    longest = max((len(run) for run in _TICKS.findall(line)), default=0)
    fence = "`" * (longest + 1)
    # Inside a table cell a pipe ends the cell even in a code span.
    return f"{fence} {line.replace('|', '¦')} {fence}"


def _lines(view: View, flips_shown: int) -> Iterator[str]:
    gate, ui = view.gate, view.ui
    yield f"## {gate.icon} {escaped(gate.word)}: {escaped(view.title)}"
    yield ""
    yield f"**{escaped(view.sentence)}**"
    yield ""
    if view.trade:
        yield escaped(view.trade)
        yield ""
    if len(view.candidates) == 1:
        yield f"{ui['recommendation']}: {escaped(view.recommendation)}"
        yield ""
    for text in release_lines(view.release):
        yield f"- {escaped(text)}"
    if view.release is not None:
        yield ""
    if view.redacted:
        yield escaped(view.redacted)
        yield ""
    for block in view.candidates:
        if len(view.candidates) > 1:
            yield f"### {block.gate.icon} {escaped(block.gate.word)}: {escaped(block.title)}"
            yield ""
            yield escaped(block.sentence)
            yield ""
        yield from _block(view, block, flips_shown)
    yield f"evalkit {escaped(view.evalkit_version)} · {escaped(view.created)} · " + " · ".join(
        f"{name}: {escaped(value)}" for name, value in view.provenance[:4]
    )


def _block(view: View, block: CandidateBlock, flips_shown: int) -> Iterator[str]:
    ui = view.ui
    for item in block.headlines:
        value = " ".join(p for p in (item.number.text, item.unit, item.number.interval) if p)
        note = f" {item.number.note}" if item.number.value is None and item.number.note else ""
        yield f"- {item.label}: **{escaped(value)}**{escaped(note)} ({escaped(item.detail)})"
    yield ""
    yield from _families(view, block)
    yield f"**{ui['threats']}**"
    yield ""
    for threat in block.threats:
        yield f"- {escaped(threat.icon)} {escaped(threat.text)}"
    yield ""
    if block.reasons:
        yield f"**{ui['reasons']}**"
        yield ""
        for reason in block.reasons:
            step = f" → {escaped(reason.step)}" if reason.step else ""
            yield f"- {code(reason.code)}: {escaped(reason.text)}{step}"
        yield ""
    if block.remedies:
        yield f"**{ui['remedies']}**"
        yield ""
        for place, remedy in enumerate(block.remedies, 1):
            yield f"{place}. {escaped(remedy.text)}"
        yield ""
    if block.noise is not None:
        yield f"**{ui['noise']}**: {escaped(block.noise.lead)}"
        yield ""
    if block.passes is not None:
        table = block.passes.table
        yield f"**{ui['passes']}**: {escaped(block.passes.lead)}"
        yield ""
        yield from table_lines(
            table.columns, ([escaped(cell) for cell in row] for row in table.rows)
        )
    flagged = [row for row in block.slices.rows if row.flagged]
    if flagged:
        yield f"**{ui['slices']}**: {escaped(block.slices.lead)}"
        yield ""
        for row in flagged:
            yield f"- {escaped(row.text)}"
        yield ""
    if flips_shown and block.regressions.cards:
        yield from _regressions(view, block, flips_shown)


def _families(view: View, block: CandidateBlock) -> Iterator[str]:
    ui = view.ui
    head = [
        ui["family"],
        ui["pairs"],
        view.baseline,
        block.endpoint,
        ui["difference"],
        ui["recovery"],
        ui["flips"],
        ui["hallucination_col"],
        ui["abstention_col"],
        ui["state"],
    ]
    rows = []
    for row in (*block.families, block.pooled):
        rates = row.rates
        pair = (
            [f"{rates[0].hallucination.text} → {rates[1].hallucination.text}"] if rates else ["–"]
        )
        pair += [f"{rates[0].abstention.text} → {rates[1].abstention.text}"] if rates else ["–"]
        rows.append(
            [
                row.label,
                row.n_text,
                row.baseline.text,
                row.candidate.text,
                row.difference.told,
                f"{row.recovery.told} ({ui['over_all']})"
                if row is block.pooled
                else row.recovery.told,
                row.flips,
                *pair,
                f"{row.state.icon} {row.state.text}",
            ]
        )
    yield from table_lines(head, ([escaped(cell) for cell in row] for row in rows))


def _regressions(view: View, block: CandidateBlock, shown: int) -> Iterator[str]:
    ui, flips = view.ui, block.regressions
    cards = flips.cards[:shown]
    yield f"<details><summary>{ui['regressions']}: {len(cards)} / {flips.total_text}</summary>"
    yield ""
    head = ["id", ui["cause"], ui["prompt"], view.baseline, block.endpoint]
    yield from table_lines(head, (_card(card) for card in cards))
    yield "</details>"
    yield ""


def _card(card: SampleCard) -> list[str]:
    asked = card.prompt[-1][1] if card.prompt else ""
    return [
        code(card.sample_id),
        escaped(card.cause),
        code(asked),
        code(card.baseline.answer or card.baseline.text),
        code(card.candidate.answer or card.candidate.text),
    ]


def table_lines(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield a table; its cells are escaped already, its head is not."""
    yield f"| {' | '.join(escaped(cell) for cell in head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""
