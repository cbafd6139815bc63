"""Counters of drafted tokens: both servers' pages, and what a restart does to them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.probe.draft_counters import Counters, growth, read_counters
from evalkit.types import DraftCounts

# As vLLM 0.32 writes it.
VLLM = """\
# HELP vllm:spec_decode_num_drafts_total Number of spec decoding drafts.
# TYPE vllm:spec_decode_num_drafts_total counter
vllm:spec_decode_num_drafts_total{engine="0",model_name="smol"} 44.0
vllm:spec_decode_num_drafts_created{engine="0",model_name="smol"} 1.7960851813550632e+09
vllm:spec_decode_num_draft_tokens_total{engine="0",model_name="smol"} 176.0
vllm:spec_decode_num_accepted_tokens_total{engine="0",model_name="smol"} 53.0
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",model_name="smol",position="0"} 23.0
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",model_name="smol",position="1"} 30.0
vllm:spec_decode_num_accepted_tokens_per_pos_created{engine="0",position="1"} 1.79608518e+09
vllm:generation_tokens_total{engine="0",model_name="smol"} 512.0
process_start_time_seconds 1.79608512332e+09
"""
# As llama.cpp writes it.
LLAMACPP = """\
# HELP llamacpp:tokens_predicted_total Number of generation tokens processed
llamacpp:tokens_predicted_total 512
llamacpp:spec_decode_num_draft_tokens_total 176
llamacpp:spec_decode_num_accepted_tokens_total 53
llamacpp:spec_decode_num_drafts_total 44
llamacpp:spec_decode_num_accepted_tokens_per_pos_total{position="0"} 23
llamacpp:spec_decode_num_accepted_tokens_per_pos_total{position="1"} 30
"""


DRAFTED = (
    "vllm:spec_decode_num_draft_tokens_total {}\nvllm:spec_decode_num_accepted_tokens_total 1\n"
)


@pytest.mark.parametrize("page", [VLLM, LLAMACPP])
def test_both_servers_are_read_by_one_parser(page: str) -> None:
    found = read_counters(page)
    assert found is not None
    assert (found.drafts, found.drafted, found.accepted) == (44, 176, 53)
    assert (found.positions, found.made) == ((23, 30), 512)


def test_engines_of_one_server_are_added_up() -> None:
    found = read_counters(VLLM + VLLM.replace('engine="0"', 'engine="1"'))
    assert found is not None
    assert (found.drafted, found.positions, found.made) == (352, (46, 60), 1024)


@pytest.mark.parametrize(
    "page",
    [
        "",
        "<html>",
        "vllm:generation_tokens_total 5",
        "other:spec_decode_num_draft_tokens_total 5\nother:spec_decode_num_accepted_tokens_total 1",
        DRAFTED.format("NaN"),
        DRAFTED.format("-3"),
        DRAFTED.format("1e99"),
    ],
)
def test_what_tells_nothing_is_nothing(page: str) -> None:
    assert read_counters(page) is None


@given(st.text(max_size=300))
def test_any_page_is_survived(page: str) -> None:
    read_counters(page)
    read_counters(VLLM + page)


COUNTS = st.integers(0, 500)
COUNTERS = st.builds(
    Counters,
    drafts=COUNTS,
    drafted=COUNTS,
    accepted=COUNTS,
    positions=st.lists(COUNTS, max_size=4).map(tuple),
    made=st.none() | COUNTS,
    started=st.sampled_from([None, 1.0, 2.0]),
)


@given(st.lists(st.tuples(st.none() | COUNTERS, st.none() | COUNTERS), max_size=3))
def test_no_pages_ever_give_a_rate_outside_0_to_1(
    pairs: list[tuple[Counters | None, Counters | None]],
) -> None:
    found = growth([early for early, _ in pairs], [late for _, late in pairs])
    if found is None:
        return
    draft = found.draft
    assert 0 <= draft.accepted <= draft.drafted
    assert all(0 <= count <= (draft.drafts or 0) for count in draft.positions)
    assert found.made is None or found.made >= 0


def test_growth_is_what_was_counted_meanwhile() -> None:
    before = Counters(10, 40, 20, (12,), made=100, started=5.0)
    # A place is listed once a draft was that long.
    after = Counters(14, 56, 27, (15, 3), made=111, started=5.0)
    found = growth([before], [after])
    assert found is not None
    assert (found.draft, found.made) == (DraftCounts(16, 7, 4, (3, 3)), 11)
    both = growth([before, before], [after, after])
    assert both is not None
    assert (both.draft, both.made) == (DraftCounts(32, 14, 8, (6, 6)), 22)
    assert growth([before], [Counters(14, 56, 27, (15, 3), 111, started=6.0)]) is None
    assert growth([before], [Counters(2, 8, 4, (2,), 9, started=5.0)]) is None
    assert growth([before], [None]) is None
    assert growth([], []) is None
