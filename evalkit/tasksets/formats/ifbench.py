"""IFBench (Pyatkin et al. 2025): the columns of IFEval, with 58 other kinds of instruction.

Left out is what its checkers cannot decide alike on every machine: kinds whose checker needs
word lists that NLTK downloads, and one whose checker draws what is missing at random.
"""

from __future__ import annotations

from typing import Any

from evalkit.tasksets.formats.base import FORMATS, Format, head, json_lines
from evalkit.tasksets.formats.ifeval import instructions_row
from evalkit.tasksets.records import Located

_HEAD = head(
    name="ifbench",
    family="instructions",
    description="Verifiable instructions beyond those of IFEval (IFBench)",
    scorer="ifbench",
    max_tokens=2048,
)
_DOWNLOADS = frozenset(
    {"format:title_case", "ratio:stop_words", "words:start_verb", "words:words_position"}
)
_RANDOM = frozenset({"repeat:repeat_span"})


def _row(located: Located) -> dict[str, Any]:
    return instructions_row(located)


def _undecidable(located: Located) -> str | None:
    kinds = set(located.record.get("instruction_id_list") or ())
    if kinds & _DOWNLOADS:
        return "needs_download"
    return "random_checker" if kinds & _RANDOM else None


FORMATS.register("ifbench")(Format(_HEAD, json_lines, _row, _undecidable))
