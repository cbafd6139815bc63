"""Fingerprints are ticked off as from a set."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from evalkit.collect.awaited import Awaited
from evalkit.fingerprint import digest

# Few first bits, so that places collide; and what is no fingerprint at all.
NAMES = st.one_of(
    st.integers(0, 40).map(lambda n: f"{n % 3:08x}" + f"{n:024x}"),
    st.integers(0, 40).map(digest),
    st.sampled_from(["", "strange", "AB" * 16, "ab" * 15, "0x" + "1" * 30, "\ud800"]),
)


@given(awaited=st.lists(NAMES, max_size=60), asked=st.lists(NAMES, max_size=80))
def test_it_is_a_set_of_fingerprints(awaited: list[str], asked: list[str]) -> None:
    found, model = Awaited(iter(awaited), len(awaited)), set(awaited)
    for name in asked:
        assert (name in found) is (name in model)
        assert found.tick(name) is (name in model)
        model.discard(name)
        assert name not in found
    assert [name in found for name in awaited] == [name in model for name in awaited]
