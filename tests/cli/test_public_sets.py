"""Public sets by name: the hub's real client against a hub on the loopback address."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from evalkit.tasksets.published import PUBLISHED
from tests.cli.conftest import Refused
from tests.servers.hub import Hub, serve_hub

parquet = pytest.importorskip("pyarrow.parquet")

# Rows of our own under the very columns of the hub.
QA = {"question": "How many legs have two cats?", "answer": "4 + 4 = <<4+4=8>>8\n#### 8"}
# A question of GSM8K (MIT) whose label is known to be wrong.
FAULTY = {
    "question": "Marin and his neighbor Nancy each eat 4 apples a day. How many apples do they "
    "eat in 30 days?",
    "answer": "#### 150",
}
ROWS: Mapping[str, list[dict[str, Any]]] = {
    "cmath": [{"grade": 1, "question": "三加四等于几？", "golden": "7", "reasoning_step": 1}],
    "gsm8k": [QA, FAULTY],
    "humaneval": [
        {
            "task_id": "HumanEval/0",
            "prompt": "def f(x):\n",
            "entry_point": "f",
            "canonical_solution": "    return x\n",
            "test": "def check(candidate):\n    assert candidate(1) == 1\n",
        }
    ],
    "ifbench": [
        {
            "key": "0",
            "prompt": "Write. Use at least 2 different conjunctions.",
            "instruction_id_list": ["count:conjunctions"],
            "kwargs": [{"small_n": 2.0, "word": None}],
        },
        {
            "key": "1",
            "prompt": "Write in title case.",
            "instruction_id_list": ["format:title_case"],
            "kwargs": [{"small_n": None, "word": None}],
        },
    ],
    "ifeval": [
        {
            "key": 1000,
            "prompt": "Write without commas.",
            "instruction_id_list": ["punctuation:no_comma"],
            "kwargs": [{"num_words": None}],
        }
    ],
    "math500": [
        {
            "problem": "Half of one?",
            "solution": r"It is $\boxed{\frac{1}{2}}$.",
            "answer": r"\frac{1}{2}",
            "subject": "Algebra",
            "level": 2,
            "unique_id": "test/algebra/1.json",
        }
    ],
    "mbpp": [
        {
            "task_id": 11,
            "text": "Add two numbers.",
            "code": "def add(a, b):\r\n  return a + b",
            "test_list": ["assert add(1, 2) == 3"],
            "test_setup_code": "",
            "challenge_test_list": [],
        }
    ],
    "mgsm": [
        {
            "question": "Two plus two thousand?",
            "answer": None,
            "answer_number": 2002,
            "equation_solution": None,
        }
    ],
    "popqa": [
        {
            "id": 42,
            "subj": "Bern",
            "prop": "capital of",
            "obj": "Switzerland",
            "question": "Bern is the capital of which country?",
            "possible_answers": '["Switzerland", "Swiss Confederation"]',
            "s_pop": 30000,
        }
    ],
    "simpleqa": [
        {
            "metadata": "{'topic': 'Art', 'answer_type': 'Person'}",
            "problem": "Who painted our kitchen?",
            "answer": "Paula",
        }
    ],
    "triviaqa": [
        {
            "question": "Which river flows through Paris?",
            "question_id": "tc_1",
            "answer": {
                "value": "Seine",
                "aliases": ["The Seine", "Seine"],
                "type": "WikipediaEntity",
            },
        }
    ],
    "truthfulqa": [
        {
            "type": "Adversarial",
            "category": "Myths",
            "question": "Do stones float?",
            "best_answer": "Stones sink",
            "correct_answers": ["Most stones sink", "Stones sink"],
            "incorrect_answers": ["Stones float"],
            "source": "us",
        }
    ],
}
ZH = {**ROWS["mgsm"][0], "question": "二加二千等于多少？"}
COMMIT = "0123456789abcdef0123456789abcdef01234567"


def lay_out(folder: Path, name: str) -> dict[str, Path]:
    """Write a set as the hub has it: a card that names configurations, and Parquet files."""
    import pyarrow

    source = PUBLISHED[name].source
    assert source is not None
    parts = {source.config: ROWS[name]}
    parts |= {config: [ZH] for config in PUBLISHED[name].configs}
    card = ["---", "configs:"]
    for config, rows in parts.items():
        inner = folder / (config or "data")
        inner.mkdir(parents=True)
        file = f"{source.split}-00000-of-00001.parquet"
        parquet.write_table(pyarrow.Table.from_pylist(rows), inner / file)
        card += [
            f"- config_name: {config or 'default'}",
            f"  data_files: [{{split: {source.split}, path: {inner.name}/{source.split}-*}}]",
        ]
    (folder / "README.md").write_text("\n".join([*card, "---", ""]))
    return {source.revision or COMMIT: folder}


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    base = tmp_path_factory.mktemp("hub")
    sets = {
        entry.source.repo: lay_out(base / name, name)
        for name, entry in PUBLISHED.items()
        if entry.source is not None
    }
    script = base / "script"
    script.mkdir()
    (script / "script.py").write_text("raise SystemExit('this code must not run')\n")
    sets["somebody/script"] = {COMMIT: script}
    with serve_hub(sets) as served:
        yield served


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


def evalkit(words: str, url: str, home: Path, **more: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "HF_ENDPOINT": url, "HF_HOME": str(home), **more}
    command = [sys.executable, "-m", "evalkit", *words.split()]
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=60, check=False
    )


def by_name(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return {row["name"]: row for row in json.loads(done.stdout)}


NAMES = sorted(ROWS)


def test_every_name_is_fetched_once_and_then_read_without_a_network(hub: Hub, home: Path) -> None:
    words = f"tasks {' '.join(NAMES)} --json -n 1"
    fetched = by_name(evalkit(words, hub.url, home))
    assert sorted(fetched) == NAMES
    for name, row in fetched.items():
        source = PUBLISHED[name].source
        assert source is not None
        assert row["revision"] == (source.revision or COMMIT)
    assert {n: r["samples"] for n, r in fetched.items() if r["samples"] != 1} == {
        "gsm8k": 2,
        "mgsm": 2,
    }
    assert fetched["mgsm"]["languages"] == {"en": 1, "zh": 1}
    assert fetched["cmath"]["languages"] == {"zh": 1}
    assert fetched["truthfulqa"]["preview"][0]["target"]["false"] == ["Stones float"]
    assert fetched["popqa"]["preview"][0]["target"]["aliases"][1] == "Swiss Confederation"
    assert list(fetched["gsm8k"]["faults"]) == ["1"]
    assert sum(fetched["ifbench"]["left_out"].values()) == 1

    hub.asked.clear()
    assert by_name(evalkit(words, hub.url, home)) == fetched
    # What is pinned is not asked for again.
    assert [path for path in hub.asked if "/datasets/" in path] == [
        "/api/datasets/weitianwen/cmath"
    ]
    assert by_name(evalkit(words, "http://127.0.0.1:9", home)) == fetched


def test_without_network_and_cache_it_is_one_sentence_at_once(tmp_path: Path) -> None:
    began = time.monotonic()
    done = evalkit("tasks gsm8k", "http://127.0.0.1:9", tmp_path)
    # The hub's client alone tries again for 23 seconds.
    assert time.monotonic() - began < 20
    assert done.returncode == 2
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    for word in ("openai/gsm8k", "not in the cache", "hf download", "HF_HOME", "FORMAT:FILE"):
        assert word in line


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (f"gsm8k@{COMMIT}", ("has no revision", COMMIT)),
        ("hf:nobody/nothing", ("no data set 'nobody/nothing'",)),
        ("hf:openai/gsm8k:sub", ("sub", "main")),
        ("hf:somebody/script", ("program of its own", "does not run")),
    ],
)
def test_what_cannot_be_had(name: str, words: tuple[str, ...], hub: Hub, home: Path) -> None:
    done = evalkit(f"tasks {name}", hub.url, home)
    assert done.returncode == 2, done.stderr
    (line,) = done.stderr.splitlines()
    for word in words:
        assert word in line
    assert "must not run" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("hf:a b", ["names no data set"]),
        ("halluqa", ["github.com/OpenMOSS/HalluQA", "halluqa:FILE"]),
        ("path:missing.jsonl", ["'missing.jsonl' is no file"]),
    ],
)
def test_what_needs_no_hub_to_be_refused(name: str, words: list[str], refused: Refused) -> None:
    refused(["tasks", name], words)


def test_any_set_with_a_column_map_of_its_own(hub: Hub, home: Path, tmp_path: Path) -> None:
    head = tmp_path / "kitchen.yaml"
    head.write_text(
        "name: kitchen\nversion: 1\nfamily: facts\nscorer: facts\nmax_tokens: 32\n"
        "description: Who did what.\nsource: hf:basicv8vc/SimpleQA::test\n"
        "columns: {input: problem, target.aliases: answer}\n"
        "lists: {target.aliases: ';'}\ndefaults: {language: en, target.kind: answer}\n"
    )
    (row,) = by_name(evalkit(f"tasks {head} --json -n 1", hub.url, home)).values()
    assert row["revision"] == "e319282ab125c3dbd0c7fd00be2e4dd54e7e8f94"
    assert row["preview"][0]["target"] == {"kind": "answer", "aliases": ["Paula"]}

    head.write_text(head.read_text().replace("input: problem", "input: question"))
    done = evalkit(f"tasks {head}", hub.url, home)
    assert (done.returncode, done.stdout) == (2, "")
    assert "no column 'question'" in done.stderr
    assert "problem" in done.stderr
