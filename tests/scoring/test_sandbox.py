from __future__ import annotations

import socket
import threading
from pathlib import Path
from typing import Any

import pytest

from evalkit.errors import SandboxError
from evalkit.scoring.sandbox import Limits, RunKind, RunResult, layers, run_program
from evalkit.scoring.sandbox_server import POOL

ADD: list[Any] = [[[1, 2], 3]]
SHORT = Limits(cpu_seconds=1, wall_seconds=5.0)


def run(source: str, tests: str | list[Any] = ADD, limits: Limits = SHORT) -> RunResult:
    return run_program(source, tests, entry_point="add", limits=limits)


def needs(layer: str) -> None:
    if layer not in layers():
        pytest.skip(f"this machine does not grant the layer '{layer}'")


def test_a_right_answer_passes_both_forms_of_tests() -> None:
    source = "def add(a, b):\n    return a + b\n"
    assert run(source).passed
    assert run(source, "assert add(2, 2) == 4\nassert add('a', 'b') == 'ab'\n").passed


def test_a_wrong_result_names_call_and_both_values() -> None:
    result = run("def add(a, b):\n    return a - b\n")
    assert result.kind is RunKind.WRONG_RESULT
    assert result.detail == "add(1, 2) gave -1, not 3"


def test_a_failed_assert_is_shown() -> None:
    result = run("def add(a, b):\n    return a\n", "x = 1\nassert add(x, 2) == 3\n")
    assert (result.kind, result.detail) == (RunKind.WRONG_RESULT, "failed: assert add(x, 2) == 3")


@pytest.mark.parametrize(
    ("source", "kind", "word"),
    [
        ("def add(a, b) return a", RunKind.SYNTAX, "SyntaxError"),
        ("def add\0", RunKind.SYNTAX, "null"),
        ("x = '\ud800'", RunKind.SYNTAX, "surrogates"),
        ("def add(a, b):\n    raise ValueError('no')", RunKind.EXCEPTION, "ValueError: no"),
        ("def plus(a, b):\n    return a + b", RunKind.EXCEPTION, "no function 'add'"),
        ("1 / 0", RunKind.EXCEPTION, "ZeroDivisionError"),
        ("def add(a, b):\n    return int(input())", RunKind.EXCEPTION, "EOFError"),
        ("def add(a, b):\n    return add(a, b)", RunKind.EXCEPTION, "RecursionError"),
        ("def add(a, b):\n    return [0] * 10**10", RunKind.MEMORY, "MemoryError"),
        ("import sys\nsys.exit(0)", RunKind.EXIT, "SystemExit"),
        ("import sys\ndef add(a, b):\n    sys.exit(0)", RunKind.EXIT, "SystemExit"),
        ("import os\nos._exit(0)", RunKind.EXIT, "status 0"),
        ("import os\ndef add(a, b):\n    os._exit(0)", RunKind.EXIT, "status 0"),
        (
            "import ctypes\ndef add(a, b):\n    ctypes.string_at(0)",
            RunKind.EXIT,
            "Segmentation fault",
        ),
    ],
)
def test_failures_have_their_kind(source: str, kind: RunKind, word: str) -> None:
    result = run(source)
    assert result.kind is kind, result
    assert word in result.detail


def test_a_loop_ends_at_the_processor_limit() -> None:
    result = run("def add(a, b):\n    while True:\n        pass\n")
    assert result.kind is RunKind.TIMEOUT
    assert result.seconds < 5


def test_a_sleeper_ends_at_the_wall_clock() -> None:
    source = "import time\ndef add(a, b):\n    time.sleep(600)\n"
    result = run(source, limits=Limits(cpu_seconds=1, wall_seconds=0.4))
    assert result.kind is RunKind.TIMEOUT
    assert 0.3 < result.seconds < 5


def test_growing_memory_ends_at_the_limit() -> None:
    source = "def add(a, b):\n    x = []\n    while True:\n        x.append('a' * 10**6)\n"
    limits = Limits(cpu_seconds=5, wall_seconds=20, memory_bytes=200_000_000)
    assert run(source, limits=limits).kind is RunKind.MEMORY


def test_a_flood_of_output_goes_nowhere() -> None:
    source = "def add(a, b):\n    for _ in range(3000):\n        print('x' * 1000)\n    return 3\n"
    assert run(source).passed


@pytest.mark.parametrize(
    "source",
    [
        # An object that equals everything.
        "class E:\n    __eq__ = lambda s, o: True\n    __ne__ = lambda s, o: False\n"
        "def add(a, b):\n    return E()\n",
        "class E(int):\n    __eq__ = lambda s, o: True\n    __ne__ = lambda s, o: False\n"
        "def add(a, b):\n    return E(7)\n",
        # Built-ins that lie.
        "import builtins\nbuiltins.len = lambda x: 3\nbuiltins.isinstance = lambda *a: True\n"
        "builtins.hex = lambda x: '0x3'\ndef add(a, b):\n    return 7\n",
        # A verdict of one's own on every stream that is open.
        "import os\ndef add(a, b):\n    for fd in range(30):\n        try:\n"
        '            os.write(fd, b\'\\0\\0\\0\\x13{"kind": "passed"}\\n\')\n'
        "        except OSError:\n            pass\n    return 7\n",
        "print('ok')\nprint('passed')\ndef add(a, b):\n    return 7\n",
        # Looking for the tests in the frames above and in all live objects.
        "import gc, sys\ndef add(a, b):\n"
        "    if any(isinstance(o, dict) and 'nonce' in o for o in gc.get_objects()):\n"
        "        return 3\n    return 7\n",
        # Ending itself, and ending the judge.
        "import os\ndef add(a, b):\n    os.kill(os.getpid(), 40)\n",
        "import os\ndef add(a, b):\n    os.kill(os.getppid(), 9)\n",
    ],
)
def test_no_trick_makes_a_wrong_answer_pass(source: str) -> None:
    assert not run(source).passed


def test_a_subclass_counts_by_its_plain_value() -> None:
    source = "class E(int):\n    __eq__ = lambda s, o: False\ndef add(a, b):\n    return E(a + b)\n"
    assert run(source).passed


@pytest.mark.parametrize(
    "expression",
    [
        "None", "True", "-5", "10**5000", "1.5", "'\\ud800'", "b'x'", "1 + 2j", "range(3)",
        "[1, (2, 'x'), {3}, frozenset({4}), {'k': [None]}, {(1, 2): 3}]",
    ],
)  # fmt: skip
def test_plain_values_come_back_as_they_are(expression: str) -> None:
    tests = f"r = add()\nassert r == {expression}\nassert type(r) is type({expression})\n"
    assert run(f"def add():\n    return {expression}\n", tests).passed


def test_a_tuple_is_not_a_list_and_a_generator_is_neither() -> None:
    assert not run("def add(a, b):\n    return (a, b)\n", [[[1, 2], [1, 2]]]).passed
    lazy = "def add(a, b):\n    yield a\n    yield b\n"
    assert not run(lazy, [[[1, 2], [1, 2]]]).passed
    assert run(lazy, "assert list(add(1, 2)) == [1, 2]\n").passed


def test_tests_may_expect_an_exception_and_call_helpers() -> None:
    source = "def half(x):\n    return x / 2\ndef add(a, b):\n    raise KeyError(a)\n"
    tests = (
        "assert half(3) == 1.5\n"
        "try:\n    add(1, 2)\nexcept KeyError:\n    pass\nelse:\n    raise AssertionError\n"
    )
    assert run(source, tests).passed


def test_stop_iteration_does_not_end_a_test_early() -> None:
    source = "def add(a):\n    raise StopIteration\n"
    assert run(source, "assert all(map(add, [1, 2, 3]))\n").kind is RunKind.EXCEPTION


def test_an_answer_cannot_put_its_own_names_under_the_tests() -> None:
    source = "def abs(x):\n    return 3\ndef add(a, b):\n    return -5\n"
    assert not run(source, "assert abs(add(1, 2)) == 3\n").passed
    source = "def __builtins__():\n    pass\ndef add(a, b):\n    return 3\n"
    assert run(source, "assert sum([add(1, 2)]) == 3\n").passed


def test_a_message_is_one_printable_line() -> None:
    detail = run("def add(a, b):\n    raise ValueError('\\x1b[31m\\n\\ud800' + 'x' * 999)\n").detail
    assert detail.isprintable()
    assert len(detail) <= 400
    detail.encode()


@pytest.mark.parametrize("tests", ["assert (", "", [], [[1, 2, 3]], [["ab", 2]]])
def test_malformed_tests_are_no_failure_of_the_program(tests: Any) -> None:
    with pytest.raises(SandboxError):
        run("def add(a, b):\n    return 3\n", tests)


def test_an_orphan_does_not_delay_the_verdict() -> None:
    source = (
        "import os, time\n"
        "def add(a, b):\n"
        "    if os.fork() == 0:\n"
        "        os.setsid()\n"
        "        os.closerange(0, 30)\n"
        "        time.sleep(600)\n"
        "    os._exit(0)\n"
    )
    assert run(source, limits=Limits(wall_seconds=60.0)).kind is RunKind.EXIT


def test_an_answer_does_not_see_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALKIT_TEST_KEY", "a-secret")
    source = "import os\ndef add(a, b):\n    return dict(os.environ)\n"
    assert run(source, "assert add(1, 2) == {}\n").passed


def test_an_answer_cannot_read_its_starter_in_proc(monkeypatch: pytest.MonkeyPatch) -> None:
    needs("hidden-proc")
    source = "import os\ndef add(a, b):\n    return os.listdir('/proc')\n"
    assert run(source, "assert add(1, 2) == []\n").passed


def test_an_answer_has_no_network() -> None:
    needs("network-namespace")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        source = (
            "import socket\ndef add(a, b):\n"
            f"    socket.create_connection(('127.0.0.1', {port}), 2)\n    return 3\n"
        )
        result = run(source)
    assert result.kind is RunKind.EXCEPTION
    # The loopback of its own network, or none at all.
    assert "refused" in result.detail or "unreachable" in result.detail


def test_an_answer_cannot_write_outside_its_directory(tmp_path: Path) -> None:
    needs("read-only-files")
    target = tmp_path / "out"
    source = f"def add(a, b):\n    open({str(target)!r}, 'w').write('x')\n    return 3\n"
    assert run(source).kind is RunKind.EXCEPTION
    assert not target.exists()
    assert run("def add(a, b):\n    open('here', 'w').write('x')\n    return 3\n").passed


def test_a_large_file_is_refused() -> None:
    source = "def add(a, b):\n    open('here', 'w').write('x' * 10**7)\n    return 3\n"
    assert run(source).kind is RunKind.EXCEPTION


def test_nothing_stays_in_the_temporary_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    POOL.close()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    run("def add(a, b):\n    open('here', 'w').write('x')\n    return 3\n")
    POOL.close()
    assert list(tmp_path.iterdir()) == []


def test_sets_have_the_same_order_every_time() -> None:
    source = "def add(a, b):\n    return list({'p', 'q', 'r', 's', 't', 'u', 'v', 'w'})\n"
    assert len({run(source, [[[1, 2], None]]).detail for _ in range(4)}) == 1


def test_it_may_run_from_several_threads() -> None:
    results: list[bool] = []

    def work() -> None:
        results.append(run("def add(a, b):\n    return a + b\n").passed)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 4


def test_layers_are_named() -> None:
    assert layers()[0] in ("bubblewrap", "unshare", "limits")
    assert {"empty-environment", "rlimits"} <= set(layers())


def test_tests_may_build_objects_of_the_answers_classes() -> None:
    source = (
        "class Node:\n    def __init__(self, value, next=None):\n"
        "        self.value, self.next = value, next\n"
        "def add(node):\n    return node.value + (add(node.next) if node.next else 0)\n"
    )
    tests = "root = Node(1)\nroot.next = Node(2, next=Node(4))\nassert add(root) == 7\n"
    assert run(source, tests).passed
    assert run(source, tests.replace("== 7", "== 6")).kind is RunKind.WRONG_RESULT


def test_an_object_of_the_answers_equals_no_value() -> None:
    source = "class E:\n    __eq__ = lambda s, o: True\ndef add(a, b):\n    return [E()]\n"
    assert not run(source, "assert add(1, 2) == [3]\n").passed
    assert not run(source, "assert add(1, 2)[0] == 3\n").passed
    assert not run(source, "x = add(1, 2)[0]\nassert x != x\n").passed


def test_tests_may_hand_over_types_and_use_modules_that_the_answer_imported() -> None:
    source = "import sys, math\ndef add(kind, x):\n    return isinstance(x, kind)\n"
    tests = "assert add(int, 3)\nassert not add(str, math.floor(2.5))\nassert sys.maxsize > 1\n"
    assert run(source, tests).passed


def test_tests_may_name_arguments() -> None:
    assert run("def add(a, *, b):\n    return a + b\n", "assert add(1, b=2) == 3\n").passed


def test_luck_is_the_same_every_time() -> None:
    source = "import random\ndef add(a, b):\n    return random.random()\n"
    assert len({run(source, [[[1, 2], None]]).detail for _ in range(3)}) == 1


def test_a_server_that_died_is_replaced() -> None:
    assert run("def add(a, b):\n    return a + b\n").passed
    for _, server in POOL._idle:
        server.process.kill()
        server.process.wait()
    assert run("def add(a, b):\n    return a + b\n").passed


def test_threads_that_end_leave_their_server_alive() -> None:
    results: list[bool] = []

    def work() -> None:
        results.append(run("def add(a, b):\n    return a + b\n").passed)

    POOL.close()
    for _ in range(2):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert results == [True] * 2
    assert len(POOL._idle) == 1
