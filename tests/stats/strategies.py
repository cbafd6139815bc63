"""Tables and differences for property tests: extreme ones on purpose."""

from __future__ import annotations

from hypothesis import strategies as st

SIZES = st.one_of(st.integers(1, 60), st.integers(1, 5000), st.integers(1, 10**7))
LEVELS = st.sampled_from([0.5, 0.9, 0.95, 0.999])
MARGINS = st.sampled_from([0.001, 0.01, 0.02, 0.05, 0.3, 0.9])


@st.composite
def tables(draw):
    """Cells (both, gained, lost, neither) of 1 to 10^7 pairs, often with empty cells."""
    left = draw(SIZES)
    cells = []
    for _ in range(3):
        some = st.one_of(st.just(0), st.integers(0, min(3, left)), st.integers(0, left))
        cells.append(draw(some))
        left -= cells[-1]
    return tuple(draw(st.permutations([*cells, left])))


@st.composite
def graded(draw, min_size=2, max_size=40):
    """Graded differences in [-1, 1] with many ties, and their clusters."""
    values = st.sampled_from([0.0, 0.0, 0.0, 1.0, -1.0, 0.25, -0.25, -0.5, 0.125])
    d = draw(st.lists(values, min_size=min_size, max_size=max_size))
    size = draw(st.integers(1, 5))
    return d, [i // size for i in range(len(d))]
