"""The go-live checklist as finished strings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from evalkit.report.pieces import Gate, Table


@dataclass(frozen=True, slots=True)
class CheckItem:
    """One line to tick.

    Attributes:
        kind: `do` with figures of this comparison; `missing` where something was not measured,
            with what to do about it.
    """

    kind: Literal["do", "missing"]
    text: str


@dataclass(frozen=True, slots=True)
class CheckSection:
    """Lines under one heading, and perhaps a table."""

    heading: str
    lines: tuple[CheckItem, ...]
    table: Table | None = None


@dataclass(frozen=True, slots=True)
class GoLiveView:
    """All that the checklist shows.

    Attributes:
        warning: Loud; empty for a release that may go out.
    """

    lang: str
    html_lang: str
    title: str
    gate: Gate
    sentence: str
    warning: str
    sections: tuple[CheckSection, ...]
    footer: str
    ui: Mapping[str, str]
