"""A finished comparison for Python: verdict, estimates, a data frame, the page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalkit.errors import MissingExtraError
from evalkit.estimates import Estimate
from evalkit.results import CandidateResult, MetricResult, Verdict, VerdictState
from evalkit.results import Comparison as Content

if TYPE_CHECKING:
    import pandas as pd

    from evalkit.report.explorer import Exploration
    from evalkit.report.model import CandidateBlock, View


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison and the folder that holds it.

    In a notebook it shows itself: verdict, numbers and where the whole report is.

    Attributes:
        content: All of `comparison.json`, typed.
        folder: Of the comparison.
        pairs: What its page shows of single pairs, of a comparison that has just been made.
    """

    content: Content
    folder: Path
    pairs: Exploration | None = field(default=None, repr=False, compare=False)

    @property
    def verdict(self) -> VerdictState:
        """The verdict that the exit code stands for; equal to its word, e.g. `"SHIP"`."""
        from evalkit.report.verdicts import overall_state

        return overall_state(self.content)

    @property
    def verdicts(self) -> Mapping[str, Verdict]:
        """State and reason codes, by candidate."""
        return {result.endpoint: result.verdict for result in self.content.results}

    @property
    def exit_code(self) -> int:
        """Of the gate, as the command line would end."""
        return self.content.exit_code

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        return self._view("en").sentence

    @property
    def estimates(self) -> Mapping[str, Mapping[str, Mapping[str, Estimate]]]:
        """Paired differences, candidate minus baseline, as fractions with their intervals.

        By candidate, then scope (`pooled` or a family), then metric (`accuracy`,
        `hallucination`, `degenerate`).
        """
        found: dict[str, dict[str, dict[str, Estimate]]] = {}
        for result in self.content.results:
            scopes = found.setdefault(result.endpoint, {})
            for metric in _metrics(result):
                scopes.setdefault(metric.scope, {})[metric.metric] = metric.difference
        return found

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each candidate, scope and metric; rates as fractions.

        Raises:
            MissingExtraError: Without pandas.
        """
        try:
            import pandas as pd
        except ImportError:
            raise MissingExtraError("to_frame()", "pip install 'quant-evalkit[pandas]'") from None
        blocks = self._view("en").candidates
        rows = [
            _row(result, metric, rates)
            for result, rates in zip(self.content.results, map(_rates, blocks), strict=True)
            for metric in _metrics(result)
        ]
        return pd.DataFrame(rows)

    def to_html(self, path: str | Path | None = None, *, lang: str = "en") -> str:
        """Return the report as one HTML document without any reference to elsewhere.

        Args:
            path: Where to write it, too.
            lang: `en` or `zh`.

        Raises:
            StoreError: When it cannot be written.
        """
        from evalkit.stages.writing import render_page, write_text

        _, parts = render_page(self.folder, self.content, lang, pairs=self.pairs)
        page = b"".join(parts).decode()
        if path is not None:
            write_text(Path(path), page)
        return page

    def _repr_html_(self) -> str:
        """Return what a notebook shows: no script, no style sheet, nothing that acts."""
        from evalkit.report.fragment import render_fragment

        return render_fragment(self._view("en"), str(self.folder))

    def __repr__(self) -> str:
        """Return verdict and folder on one line."""
        return f"<Comparison {self.verdict}: {self._view('en').title} in {str(self.folder)!r}>"

    def _view(self, lang: str) -> View:
        from evalkit.stages.writing import view_of

        return view_of(self.folder, self.content, lang)


def load(folder: str | Path) -> Comparison:
    """Read a comparison that was made before, as `evalkit report` shows it.

    Args:
        folder: Its folder, or its `comparison.json` (then without what reviewers marked).

    Raises:
        StoreError: When it is missing, broken, of a newer evalkit, or does not agree with itself.
    """
    from evalkit.stages.reviewing import reviewed
    from evalkit.stages.stored import load_sound

    path = Path(folder)
    if path.is_dir():
        return Comparison(reviewed(path), path)
    return Comparison(load_sound(path), path.parent)


def _metrics(result: CandidateResult) -> Iterator[MetricResult]:
    from evalkit.report.verdicts import metrics_of

    return metrics_of(result)


_Rates = Mapping[tuple[str, str], tuple[float | None, float | None]]


def _rates(block: CandidateBlock) -> _Rates:
    """Return what the report's table of families shows of both arms; the rest has no rate."""
    found: dict[tuple[str, str], tuple[float | None, float | None]] = {}
    for row in (*block.families, block.pooled):
        found[row.scope, "accuracy"] = (row.baseline.value, row.candidate.value)
        if row.rates is not None:
            one, other = (arm.hallucination.value for arm in row.rates)
            found[row.scope, "hallucination"] = (one, other)
    return found


def _row(result: CandidateResult, metric: MetricResult, rates: _Rates) -> dict[str, Any]:
    difference = metric.difference
    baseline, candidate = rates.get((metric.scope, metric.metric), (None, None))
    return {
        "candidate": result.endpoint,
        "verdict": result.verdict.state.value,
        "scope": metric.scope,
        "metric": metric.metric,
        "n": metric.n,
        "baseline_rate": baseline,
        "candidate_rate": candidate,
        "difference": difference.value,
        "low": difference.low,
        "high": difference.high,
        "confidence_level": difference.confidence_level,
        "margin": metric.margin,
        "p_noninferior": metric.p_noninferior,
        "p_degraded": metric.p_degraded,
        "noninferior": metric.noninferior,
        "degraded": metric.degraded,
        "gated": metric.gated,
        "state": metric.state.value,
    }
