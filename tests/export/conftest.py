from __future__ import annotations

from pathlib import Path

import pytest

from tests.recorded import Case, compared

# Nobody's format may turn "no answer" into an answer, nor lose a character.
CASES = [
    Case("box-0", "What is in box 0?", "It is alpha.", "It is omega."),
    Case("box-1", "What is in box 1?", "It is alpha.", TimeoutError("the deadline passed")),
    Case("box-2", "What is in box 2?", None, "I don't know."),
    Case("box-3", "</script>箱子 3? \x00\u202e", 'alpha "</script>\n{{7*7}} 病历', "It is alpha."),
]


@pytest.fixture(scope="session")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a comparison; read it only."""
    home = tmp_path_factory.mktemp("compared")
    compared(home, CASES, epochs=2)
    return home / "out"
