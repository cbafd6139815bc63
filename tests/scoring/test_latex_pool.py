from collections.abc import Iterator
from pathlib import Path

import pytest

from evalkit.scoring.latex_pool import Comparer, available

pytest.importorskip("math_verify")


@pytest.fixture(scope="module")
def comparer() -> Iterator[Comparer]:
    # As short as the kernel's clock allows; math-verify needs none of it to start.
    comparer = Comparer(cpu_seconds=1)
    yield comparer
    comparer.close()


def test_the_extra_is_seen() -> None:
    assert available()


def test_it_knows_algebra(comparer: Comparer) -> None:
    assert comparer.equal("$x^2-1$", "$(x-1)(x+1)$") is True
    assert comparer.equal("$x^2-1$", "$(x-1)(x+2)$") is False
    assert comparer.equal("$5$", "it is 5", search=True) is True


@pytest.mark.parametrize("hostile", ["9^{9^{9^9}}", "(10^9)!", "(x+1)^{100000}"])
def test_a_hostile_expression_ends_its_worker_and_no_more(comparer: Comparer, hostile: str) -> None:
    assert comparer.equal("$5$", f"$\\boxed{{{hostile}}}$") is None
    assert comparer.equal("$5$", "$\\boxed{2+3}$") is True


def test_a_worker_that_dies_is_replaced(comparer: Comparer) -> None:
    assert comparer.equal("$5$", "$6$") is False
    worker = comparer._process
    assert worker is not None
    worker.kill()
    worker.wait()
    assert comparer.equal("$5$", "$5.0$") is None
    assert comparer.equal("$5$", "$5.00$") is True


def test_nothing_of_an_answer_is_run(comparer: Comparer, tmp_path: Path) -> None:
    program = f'__import__("os").system("touch {tmp_path}/made")'
    for text in (program, f"$\\boxed{{{program}}}$", f"answer: {program}"):
        comparer.equal("$5$", text, search=True)
    assert list(tmp_path.iterdir()) == []


def test_the_worker_sees_no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k-1234")
    comparer = Comparer()
    assert comparer.equal("$5$", "$5$") is True
    worker = comparer._process
    assert worker is not None
    assert b"k-1234" not in Path(f"/proc/{worker.pid}/environ").read_bytes()
    comparer.close()
