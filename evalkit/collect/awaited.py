"""Which requests of a run have no answer yet, in memory that a hundred thousand do not fill."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import Final

_BYTES: Final = 16


class Awaited:
    """Fingerprints that are ticked off one by one.

    A hash table with open addressing and linear probing (Knuth, TAOCP 3, 6.4), at most half
    full: a quarter of what a set of texts takes. A fingerprint is a hash already: its first
    bits are its place.
    """

    __slots__ = ("_hashes", "_mask", "_odd", "_table", "_ticked")

    def __init__(self, fingerprints: Iterable[str], n: int) -> None:
        """Await fingerprints.

        Args:
            fingerprints: Any of them may come twice; it is one then.
            n: How many there are at most.
        """
        slots = 2 << max(1, n).bit_length()
        self._mask = slots - 1
        # Where the hash of a slot stands, from 1 on; 0 is for a slot that is free.
        self._table = array("I", bytes(4 * slots))
        self._hashes = bytearray(_BYTES)
        self._ticked = bytearray(1)
        # A journal may say anything.
        self._odd: set[str] = set()
        for fingerprint in fingerprints:
            self._put(fingerprint)

    def __contains__(self, fingerprint: str) -> bool:
        """Whether it is still awaited."""
        raw = _raw(fingerprint)
        if raw is None:
            return fingerprint in self._odd
        place = self._table[self._slot(raw)]
        return place > 0 and not self._ticked[place]

    def tick(self, fingerprint: str) -> bool:
        """Tick one off, and say whether it was awaited."""
        raw = _raw(fingerprint)
        if raw is None:
            known = fingerprint in self._odd
            self._odd.discard(fingerprint)
            return known
        place = self._table[self._slot(raw)]
        if not place or self._ticked[place]:
            return False
        self._ticked[place] = 1
        return True

    def _put(self, fingerprint: str) -> None:
        raw = _raw(fingerprint)
        if raw is None:
            self._odd.add(fingerprint)
            return
        slot = self._slot(raw)
        if not self._table[slot]:
            self._table[slot] = len(self._ticked)
            self._hashes += raw
            self._ticked.append(0)

    def _slot(self, raw: bytes) -> int:
        """Return the slot that holds a hash, or the free one where it would stand."""
        table, hashes, mask = self._table, self._hashes, self._mask
        slot = int.from_bytes(raw[:8], "big") & mask
        while place := table[slot]:
            at = place * _BYTES
            if hashes[at : at + _BYTES] == raw:
                break
            slot = (slot + 1) & mask
        return slot


def _raw(fingerprint: str) -> bytes | None:
    try:
        raw = bytes.fromhex(fingerprint)
    except ValueError:
        return None
    return raw if len(raw) == _BYTES and raw.hex() == fingerprint else None
