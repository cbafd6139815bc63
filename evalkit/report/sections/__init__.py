"""The report's sections: one file each, and one line here.

A section is a module with `ORDER`, `applies`, `context` and `TEMPLATE` (Jinja2, autoescaped;
`view`, `ui` and, for a candidate's section, `block` are always there). It knows the
view-model only and appears only when it has something to say.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol

from evalkit.report.model import CandidateBlock, View
from evalkit.report.sections import (
    details,
    explorer,
    families,
    first_screen,
    improvements,
    lengths,
    methods,
    metrics,
    missing,
    needed,
    noise,
    outcomes,
    passrates,
    performance,
    policies,
    regressions,
    release,
    remedies,
    review,
    slices,
    soak,
    transitions,
)


class CandidateSection(Protocol):
    """A section that is shown once for each candidate."""

    @property
    def ORDER(self) -> int:  # noqa: N802 - a module's constant
        """Place in the candidate's block, ascending."""

    @property
    def TEMPLATE(self) -> str:  # noqa: N802 - a module's constant
        """Jinja2 source."""

    def applies(self, view: View, block: CandidateBlock) -> bool:
        """Whether there is something to say."""

    def context(self, view: View, block: CandidateBlock) -> Mapping[str, Any]:
        """Return what the template needs beside `view`, `ui` and `block`."""


class PageSection(Protocol):
    """A section that is shown once, after all candidates."""

    @property
    def ORDER(self) -> int:  # noqa: N802 - a module's constant
        """Place at the end of the page, ascending."""

    @property
    def TEMPLATE(self) -> str:  # noqa: N802 - a module's constant
        """Jinja2 source."""

    def applies(self, view: View) -> bool:
        """Whether there is something to say."""

    def context(self, view: View) -> Mapping[str, Any]:
        """Return what the template needs beside `view` and `ui`."""


CANDIDATE_SECTIONS: Final[tuple[CandidateSection, ...]] = (
    first_screen,
    policies,
    review,
    remedies,
    families,
    transitions,
    passrates,
    slices,
    lengths,
    metrics,
    missing,
    needed,
    noise,
    outcomes,
    regressions,
    improvements,
)
PAGE_SECTIONS: Final[tuple[PageSection, ...]] = (
    release,
    performance,
    soak,
    explorer,
    methods,
    details,
)
