"""The same task through lm-eval's own command and through evalkit: equal for every document.

Both ask the same server: the embedded model for answers that are generated, and a model of
words for texts whose probability is asked.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.servers.embedded import needs_model, served
from tests.servers.likely import serve_words

pytest.importorskip("lm_eval")

GENERATED = 20
NAMES = ("Ann", "Ben", "Cho", "Dan", "Eve")
# Our own items in the form of GSM8K, asked as lm-eval asks GSM8K.
TASK = """
include: {gsm8k}
task: own_gsm8k
dataset_path: json
dataset_name: null
num_fewshot: 1
generation_kwargs: {{until: ["Question:"], max_gen_toks: 20, do_sample: false, temperature: 0.0}}
dataset_kwargs: {{data_files: {{train: "{folder}/train.jsonl", test: "{folder}/test.jsonl"}}}}
"""
CHOICE = """
task: own_choice
dataset_path: json
dataset_kwargs: {{data_files: {{test: "{folder}/choice.jsonl"}}}}
test_split: test
output_type: multiple_choice
doc_to_text: "Question: {{{{question}}}}\\nAnswer:"
doc_to_choice: choices
doc_to_target: gold
metric_list:
  - {{metric: acc, aggregation: mean, higher_is_better: true}}
  - {{metric: acc_norm, aggregation: mean, higher_is_better: true}}
"""


def problem(n: int) -> dict[str, str]:
    who, a, b = NAMES[n % 5], 3 + 7 * n % 23, 2 + 5 * n % 17
    question = f"{who} has {a} apples and buys {b} more. How many apples has {who} now?"
    return {"question": question, "answer": f"{a} + {b} = <<{a}+{b}={a + b}>>{a + b}\n#### {a + b}"}


def public_gsm8k() -> tuple[list[dict[str, str]], list[dict[str, str]]] | None:
    """Return problems of GSM8K's own test and training splits, where they are there."""
    default = Path(__file__).parents[3] / "shared/data"
    folder = Path(os.environ.get("EVALKIT_PUBLIC_DATA", default)) / "math/gsm8k"
    if not folder.exists():
        return None
    test, train = (
        [json.loads(line) for line in (folder / name).read_text("utf-8").splitlines()[:GENERATED]]
        for name in ("test.jsonl", "train_first200.jsonl")
    )
    return test, train


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import lm_eval

    folder = tmp_path_factory.mktemp("tasks")
    gsm8k = Path(lm_eval.__file__).parent / "tasks/gsm8k/gsm8k.yaml"
    public = public_gsm8k()
    lines = {
        "test": [problem(n) for n in range(GENERATED)],
        "train": [problem(n) for n in range(40, 46)],
        "choice": [
            {"question": f"What of {n}?", "choices": ["a b", f"c {n}", "d e f", "g"], "gold": n % 4}
            for n in range(24)
        ],
    }
    if public is not None:
        lines |= {"public_test": public[0], "public_train": public[1]}
        text = TASK.format(gsm8k=gsm8k, folder=folder).replace("own_gsm8k", "public_gsm8k")
        text = text.replace("/test.jsonl", "/public_test.jsonl")
        text = text.replace("/train.jsonl", "/public_train.jsonl")
        (folder / "public_gsm8k.yaml").write_text(text)
    for name, rows in lines.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "own_gsm8k.yaml").write_text(TASK.format(gsm8k=gsm8k, folder=folder))
    (folder / "own_choice.yaml").write_text(CHOICE.format(folder=folder))
    return folder


def run(*command: str, cwd: Path) -> str:
    environment = {**os.environ, "HF_HOME": str(cwd / "hf"), "HF_HUB_OFFLINE": "1", "NO_COLOR": "1"}
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def by_lm_eval(task: str, model: str, tasks: Path, cwd: Path, *more: str) -> dict[int, Any]:
    """Return, by document, what `lm_eval` wrote of each filter."""
    run(
        *("lm_eval", "run", "--model", model.partition(":")[0]),
        *("--model_args", model.partition(":")[2], "--tasks", task),
        *("--include_path", str(tasks), "--output_path", str(cwd / "theirs"), "--log_samples"),
        *more,
        cwd=cwd,
    )
    found: dict[int, Any] = {}
    for path in (cwd / "theirs").rglob("samples_*.jsonl"):
        for line in path.read_text("utf-8").splitlines():
            row = json.loads(line)
            found.setdefault(row["doc_id"], {})[row["filter"]] = row
    return found


def by_evalkit(
    task: str, endpoint: str, tasks: Path, cwd: Path
) -> tuple[dict[int, Any], dict[int, Any]]:
    """Return the scores and the answers that `evalkit run` recorded, by document."""
    (cwd / "evalkit.yaml").write_text(f"endpoints: {{asked: {endpoint}}}\n")
    run(
        *("evalkit", "run", "asked", "-c", "evalkit.yaml", "-t", f"lm-eval:{task}"),
        *("--include-path", str(tasks), "-j", "1", "-o", "ours", "--display", "none"),
        cwd=cwd,
    )

    def read(name: str) -> dict[int, Any]:
        rows = map(json.loads, (cwd / "ours" / name).read_text("utf-8").splitlines())
        return {int(row["sample_id"]): row for row in rows}

    return read("scores.jsonl"), read("completions.jsonl")


@pytest.fixture(scope="module")
def embedded() -> Iterator[str]:
    with served("q8") as url:
        yield url


@needs_model
@pytest.mark.model
def test_generated_answers(embedded: str, tasks: Path, tmp_path: Path) -> None:
    values = compared("own_gsm8k", embedded, tasks, tmp_path)
    # Otherwise equal scores would say little.
    assert values == {0.0, 1.0}


@needs_model
@pytest.mark.public_data
@pytest.mark.slow
def test_generated_answers_to_gsm8k(embedded: str, tasks: Path, tmp_path: Path) -> None:
    if not (tasks / "public_gsm8k.yaml").exists():
        pytest.skip("GSM8K is not there")
    compared("public_gsm8k", embedded, tasks, tmp_path)


def compared(task: str, embedded: str, tasks: Path, tmp_path: Path) -> set[float]:
    """Ask through both, and return the values that lm-eval gives when all are equal."""
    url = f"{embedded}/v1/chat/completions"
    theirs = by_lm_eval(
        task,
        f"local-chat-completions:model=q8,base_url={url},num_concurrent=1",
        tasks,
        tmp_path,
        *("--apply_chat_template", "--fewshot_as_multiturn", "False"),
    )
    endpoint = f'{{kind: openai, base_url: "{embedded}/v1", model: q8, api_key_env: ""}}'
    scores, answers = by_evalkit(task, endpoint, tasks, tmp_path)
    assert sorted(theirs) == sorted(scores) == [*range(GENERATED)]
    for document, filters in theirs.items():
        strict, flexible = filters["strict-match"], filters["flexible-extract"]
        assert answers[document]["text"] == strict["resps"][0][0]
        assert scores[document]["value"] == strict["exact_match"]
        assert (
            f"exact_match,flexible-extract {flexible['exact_match']:g}"
            in (scores[document]["explanation"])
        )
    return {f["flexible-extract"]["exact_match"] for f in theirs.values()}


def test_probabilities_of_given_texts(tasks: Path, tmp_path: Path) -> None:
    with serve_words() as url:
        theirs = by_lm_eval(
            "own_choice",
            f"local-completions:model=words,base_url={url}/v1/completions,"
            "tokenizer_backend=remote,num_concurrent=1",
            tasks,
            tmp_path,
        )
        endpoint = f'{{kind: openai, base_url: "{url}/v1", model: words, api_key_env: ""}}'
        scores, answers = by_evalkit("own_choice", endpoint, tasks, tmp_path)
    assert sorted(theirs) == sorted(scores) == [*range(24)]
    for document, filters in theirs.items():
        row = filters["none"]
        asked = [(float(logprob), greedy == "True") for [(logprob, greedy)] in row["resps"]]
        found = json.loads(answers[document]["text"])
        assert [greedy for _, greedy in found] == [greedy for _, greedy in asked]
        assert [logprob for logprob, _ in found] == pytest.approx([one for one, _ in asked])
        assert scores[document]["value"] == row["acc"]
        assert f"acc_norm,none {row['acc_norm']:g}" in scores[document]["explanation"]
    assert {filters["none"]["acc"] for filters in theirs.values()} == {0.0, 1.0}
