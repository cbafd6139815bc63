from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.scoring import scripts


@given(st.text(st.characters(max_codepoint=127)), st.sampled_from(["en", "zh", "ru"]))
def test_plain_ascii_is_searched_for_latin_alone_and_nothing_is_missed(
    text: str, language: str
) -> None:
    quick = scripts.script_counts(text), scripts.written_in(text, language)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scripts, "_LATIN", scripts._LETTERS)
        assert quick == (scripts.script_counts(text), scripts.written_in(text, language))
