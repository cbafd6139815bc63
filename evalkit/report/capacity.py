"""What a deployment needs of memory, as finished strings for the page and the console."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from evalkit import __version__
from evalkit.capacities import COMPONENTS, Capacity, Footprint, LayerCount, Room
from evalkit.report import numbers
from evalkit.report.pieces import Table
from evalkit.report.text import one_line
from evalkit.report.words import Words

_GROUPS = re.compile(r"(?P<name>.+), (?P<kind>groups|blocks) of (?P<size>[0-9 ×]+)")


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of a bar: what it is, its bytes, and both in words."""

    key: str
    bytes: int
    text: str


@dataclass(frozen=True, slots=True)
class Bar:
    """One quantization in the chart.

    Attributes:
        fits: `None` without a device.
        verdict: Sign and word for that, or nothing.
        text: All of it in words.
    """

    name: str
    total: str
    fits: bool | None
    verdict: str
    segments: tuple[Segment, ...]
    text: str


@dataclass(frozen=True, slots=True)
class CapacityView:
    """All that a renderer may show.

    Attributes:
        device: Bytes; `None` without a device.
        legend: Key and word of each component that any bar has.
    """

    lang: str
    html_lang: str
    title: str
    sentence: str
    work: str
    facts: tuple[tuple[str, str], ...]
    table: Table
    rooms: Table | None
    parts: Table
    notes: tuple[str, ...]
    bars: tuple[Bar, ...]
    legend: tuple[tuple[str, str], ...]
    device: int | None
    device_word: str
    evalkit_version: str
    ui: Mapping[str, str]


def build_capacity(found: Capacity, lang: str = "en") -> CapacityView:
    """Return all that is shown of a capacity plan.

    Raises:
        UnknownNameError: For a language without a catalogue.
    """
    words = Words(lang)
    present = [key for key in COMPONENTS if any(key in f.components for f in found.footprints)]
    return CapacityView(
        lang=lang,
        html_lang=words.html_lang,
        title=words("capacity.title", model=one_line(found.model)),
        sentence=_sentence(words, found),
        work=_work(words, found),
        facts=tuple(_facts(words, found)),
        table=_table(words, found, present),
        rooms=_rooms(words, found) if found.device is not None else None,
        parts=_parts(words, found),
        notes=tuple(
            words(f"capacity.note.{note.key}", **{k: one_line(v) for k, v in note.facts.items()})
            for note in found.notes
        ),
        bars=tuple(_bar(words, footprint) for footprint in found.footprints),
        legend=tuple((key, words(f"capacity.part.{key}")) for key in present),
        device=found.device,
        device_word=""
        if found.device is None
        else words("capacity.device", size=numbers.size(found.device)),
        evalkit_version=__version__,
        ui=words.ui(),
    )


def _sentence(words: Words, found: Capacity) -> str:
    def named(fits: bool | None, at_all: bool | None) -> str:
        chosen = [f for f in found.footprints if (f.fits, f.fits_at_all) == (fits, at_all)]
        return words("capacity.join").join(
            words("capacity.named", name=one_line(f.name), size=numbers.size(f.needed))
            for f in chosen
        )

    if found.device is None:
        return words("capacity.needed", names=named(None, None))
    device = numbers.size(found.device)
    good, less, bad = named(True, True), named(False, True), named(False, False)
    if not good and not less:
        return words("capacity.none", device=device, names=bad)
    told = []
    if good:
        told.append(words("capacity.fits", device=device, names=good))
    if less:
        told.append(words("capacity.fits_less", device=device, names=less))
    if bad:
        told.append(words("capacity.fits_not", names=bad))
    return words("capacity.sentences").join(told)


def _layout(words: Words, text: str) -> str:
    """Write the layout of a format, e.g. `int4, groups of 128`, in the report's language."""
    found = _GROUPS.fullmatch(text)
    return text if found is None else words(f"capacity.{found['kind']}", **found.groupdict())


def _work(words: Words, found: Capacity) -> str:
    return words(
        "capacity.work",
        concurrency=numbers.count(found.concurrency),
        context=numbers.count(found.context),
        kv=found.kv,
        headroom=numbers.percent(found.headroom, 0),
    )


def _facts(words: Words, found: Capacity) -> Iterator[tuple[str, str]]:
    yield words("capacity.fact.architecture"), one_line(found.architecture)
    yield words("capacity.fact.engine"), found.engine
    yield words("capacity.fact.parameters"), numbers.count(found.parameters)
    yield words("capacity.fact.active"), numbers.count(found.active_parameters)
    layers = words("capacity.join").join(_layers(words, item) for item in found.layers)
    yield words("capacity.fact.layers"), layers
    yield words("capacity.fact.kv_token"), numbers.size(found.kv_bytes_per_token)
    yield words("capacity.fact.kv_sequence"), numbers.size(found.kv_bytes_per_sequence)
    limit = numbers.count(found.max_context)
    yield words("capacity.fact.limit"), limit
    if found.draft is not None:
        yield words("capacity.fact.draft"), one_line(found.draft)


def _layers(words: Words, item: LayerCount) -> str:
    window = "" if item.window is None else numbers.count(item.window)
    return words(f"capacity.layers.{item.kind}", count=numbers.count(item.layers), window=window)


def _table(words: Words, found: Capacity, present: list[str]) -> Table:
    prints = found.footprints
    rows = [
        (words("capacity.layout"), *(_layout(words, one_line(f.layout)) for f in prints)),
        (words("capacity.bits"), *(numbers.bits(f.bits_per_weight) for f in prints)),
    ]
    rows += [
        (words(f"capacity.part.{key}"), *(_size(f.components.get(key)) for f in prints))
        for key in present
    ]
    rows.append((words("capacity.total"), *(numbers.size(f.needed) for f in prints)))
    if found.device is not None:
        rows.append((words("capacity.fit"), *(_fit(words, f) for f in prints)))
        context = words("capacity.longest", concurrency=numbers.count(found.concurrency))
        rows.append((context, *(_most(f.longest_context) for f in prints)))
        sequences = words("capacity.most", context=numbers.count(found.context))
        rows.append((sequences, *(_most(f.most_sequences) for f in prints)))
    rows.append((words("capacity.read"), *(numbers.size(f.active_weights) for f in prints)))
    rows.append((words("capacity.checkpoint"), *(numbers.size(f.checkpoint) for f in prints)))
    names = tuple(one_line(f.name) for f in prints)
    return Table(words("capacity.caption"), (words("capacity.what"), *names), tuple(rows))


def _size(value: int | None) -> str:
    return numbers.size(value) if value is not None else numbers.DASH


def _fit(words: Words, footprint: Footprint) -> str:
    if footprint.fits:
        return words("capacity.yes")
    return words("capacity.less") if footprint.fits_at_all else words("capacity.no")


def _most(value: int | None) -> str:
    return numbers.count(value) if value else numbers.DASH


def _rooms(words: Words, found: Capacity) -> Table:
    names = tuple(one_line(f.name) for f in found.footprints)
    by_row = zip(*(f.rooms for f in found.footprints), strict=True)
    rows = tuple(
        (numbers.count(rooms[0].concurrency), *(_room(words, room) for room in rooms))
        for rooms in by_row
    )
    caption = words("capacity.rooms", device=numbers.size(found.device))
    return Table(caption, (words("capacity.sequences"), *names), rows)


def _room(words: Words, room: Room) -> str:
    if room.context and room.at_limit:
        return words("capacity.at_limit", context=numbers.count(room.context))
    return _most(room.context)


def _parts(words: Words, found: Capacity) -> Table:
    rows = []
    for item in found.parts:
        sizes = (numbers.count(item.parameters), numbers.count(item.active))
        rows.append((words(f"capacity.of.{item.part}"), *sizes))
    columns = ("capacity.what", "capacity.fact.parameters", "capacity.fact.active")
    return Table(words("capacity.parts"), tuple(words(key) for key in columns), tuple(rows))


def _bar(words: Words, footprint: Footprint) -> Bar:
    segments = tuple(
        Segment(key, size, f"{words(f'capacity.part.{key}')}: {numbers.size(size)}")
        for key in COMPONENTS
        if (size := footprint.components.get(key))
    )
    total = numbers.size(footprint.needed)
    verdict = "" if footprint.fits is None else _fit(words, footprint)
    head = words("capacity.named", name=one_line(footprint.name), size=total)
    told = words("capacity.join").join(segment.text for segment in segments)
    name = one_line(footprint.name)
    return Bar(name, total, footprint.fits, verdict, segments, f"{head}: {told}")
