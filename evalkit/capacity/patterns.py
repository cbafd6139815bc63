"""Which modules a quantization leaves out, as its lists of names and patterns say.

Lists of this kind come with every method: whole names, parts of names, globs, and regular
expressions after `re:` (compressed-tensors). Expressions from a file are run only when they
cannot take long.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from evalkit.capacity.model import Tensor
from evalkit.errors import ConfigError

_MOST_PATTERNS: Final = 100_000
_MOST_LENGTH: Final = 200
_MOST_EXPRESSIONS: Final = 500
_MOST_REPEATS: Final = 4
_NESTED: Final = re.compile(r"\)\s*[*+{?]|\\\d")
# Names of the same layers inside models that see pictures.
_PREFIXES: Final = ("model.language_model.", "language_model.model.", "model.text_model.")


@dataclass(frozen=True, slots=True)
class Patterns:
    """A checked list."""

    runs: frozenset[str] = field(default_factory=frozenset)
    expressions: tuple[re.Pattern[str], ...] = ()

    @classmethod
    def read(cls, raw: Any, where: str) -> Patterns:
        """Check a list from a configuration; nothing where there is none.

        Raises:
            ConfigError: When it is no list of words, or an expression is not understood.
        """
        if raw is None:
            return cls()
        listed = isinstance(raw, list) and len(raw) <= _MOST_PATTERNS
        if not listed or not all(isinstance(item, str) for item in raw):
            raise ConfigError(f"{where}: the modules that are left out are no list of names.")
        plain = frozenset(item for item in raw if "*" not in item and not item.startswith("re:"))
        others = [item for item in raw if item not in plain]
        if len(others) > _MOST_EXPRESSIONS:
            raise ConfigError(f"{where}: more than {_MOST_EXPRESSIONS} patterns of modules.")
        return cls(plain, tuple(_expression(item, where) for item in others))

    def match(self, tensor: Tensor) -> bool:
        """Whether a tensor's module is in the list."""
        if not self.runs and not self.expressions:
            return False
        for name in _names(tensor):
            words = name.split(".")
            starts = range(len(words))
            runs = (".".join(words[i:j]) for i in starts for j in range(i + 1, len(words) + 1))
            if not self.runs.isdisjoint(runs):
                return True
            if any(expression.match(name) for expression in self.expressions):
                return True
        return False


def _names(tensor: Tensor) -> Iterator[str]:
    yield (name := tensor.name.replace(".*.", ".0.") if ".*." in tensor.name else tensor.name)
    if name.startswith("model."):
        for prefix in _PREFIXES:
            yield prefix + name.removeprefix("model.")
    if tensor.part == "mtp":
        yield "mtp." + name.removeprefix("model.")


def _expression(text: str, where: str) -> re.Pattern[str]:
    body = text.removeprefix("re:")
    if not text.startswith("re:"):
        middle = ".*".join(re.escape(part) for part in text.split("*"))
        words = f"(?:.*[.])?{middle}(?:[.].*)?$"
        if text.count("*") <= _MOST_REPEATS and len(text) <= _MOST_LENGTH:
            return re.compile(words)
    slow = _NESTED.search(body) or sum(map(body.count, "*+{")) > _MOST_REPEATS
    if not slow and len(body) <= _MOST_LENGTH and text.startswith("re:"):
        try:
            return re.compile(body)
        except (re.error, RecursionError, OverflowError):
            pass
    raise ConfigError(
        f"{where}: the pattern '{text[:40]}' of modules is not understood.",
        hint="Leave 'stored' out of --quant to count other formats.",
    )


def without_signs(raw: Any, sign: str) -> Sequence[str] | None:
    """Return GPTQModel's `dynamic` keys with a sign, `-:` or `+:`, as patterns."""
    if not isinstance(raw, dict):
        return None
    return [f"re:{key.removeprefix(sign)}" for key in raw if str(key).startswith(sign)]
