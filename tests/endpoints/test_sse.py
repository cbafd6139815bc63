from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.endpoints.sse import EventParser, ServerEvent


def events(*parts: bytes) -> list[tuple[bytes, bytes]]:
    parser = EventParser()
    found: list[ServerEvent] = []
    for part in parts:
        found += parser.feed(part)
    return [(event.name, event.data) for event in [*found, *parser.close()]]


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        # The standard's own examples (9.2.6), without what it says is never dispatched.
        (b"data: YHOO\ndata: +2\ndata: 10\n\n", [(b"", b"YHOO\n+2\n10")]),
        (
            b": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\n"
            b"data:  third event\n\n",
            [(b"", b"first event"), (b"", b"second event"), (b"", b" third event")],
        ),
        (b"data\n\ndata\ndata\n\n", [(b"", b""), (b"", b"\n")]),
        (b"data:test\n\ndata: test\n\n", [(b"", b"test"), (b"", b"test")]),
        (b"event: add\ndata: 1\n\ndata: 2\n\n", [(b"add", b"1"), (b"", b"2")]),
        # All three line ends.
        (b"data: a\r\rdata: b\r\n\r\ndata: c\n\n", [(b"", b"a"), (b"", b"b"), (b"", b"c")]),
        (b"\xef\xbb\xbfdata: a\n\n", [(b"", b"a")]),
        (b": ping\n\n:\n\nevent: ping\n\nretry: 5\nid: 7\n\nwhat?\n\n", []),
        ("data: 中\u2028\x85文\n\n".encode(), [(b"", "中\u2028\x85文".encode())]),
        # What the standard throws away, and servers send.
        (b"data: [DONE]", [(b"", b"[DONE]")]),
        (b"data: [DONE]\n", [(b"", b"[DONE]")]),
        (b'error: {"code": 500}\n\n', [(b"error", b'{"code": 500}')]),
        (b"", []),
    ],
)
def test_events(stream: bytes, expected: list[tuple[bytes, bytes]]) -> None:
    assert events(stream) == expected
    assert events(*(stream[at : at + 1] for at in range(len(stream)))) == expected


FIELDS = ["data: a", "data:", "data", ": c", "event: x", "id: 1", "error: e", "", "zz", "中"]
LINES = st.sampled_from([field.encode() for field in FIELDS])
ENDS = st.sampled_from([b"\n", b"\r", b"\r\n"])


@given(st.lists(st.tuples(LINES, ENDS), max_size=20), st.data())
def test_any_cutting_gives_the_same_events(
    lines: list[tuple[bytes, bytes]], data: st.DataObject
) -> None:
    stream = b"".join(line + end for line, end in lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=10)))
    parts = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    assert events(*parts) == events(stream)


@given(st.lists(st.binary(max_size=20), max_size=10))
def test_any_bytes_are_read(parts: list[bytes]) -> None:
    assert events(*parts) == events(b"".join(parts))
