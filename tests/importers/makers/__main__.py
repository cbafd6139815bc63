"""Make the fixtures anew with the real tools, on the embedded model at 8 and at 4 bits.

    python -m tests.importers.makers lm-eval=VENV/bin/lm_eval inspect=VENV/bin/inspect \\
        promptfoo=DIR/node_modules/.bin/promptfoo nel=VENV/bin/nel byob=VENV/bin/python

Each tool is given by its program; one that is not given is left out. The folder's README says
which versions made what is committed.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.importers.makers.capitals import rows
from tests.servers.embedded import served

HERE = Path(__file__).parent
FIXTURES = HERE.parent / "fixtures"
ARMS = {"q8": "q8", "low": "q4"}

_GENERATE = """
task: capitals
dataset_path: json
dataset_kwargs: {{data_files: {{train: {rows}, test: {rows}}}}}
output_type: generate_until
training_split: train
test_split: test
num_fewshot: {shots}
doc_to_text: "Question: {{{{question}}}}\\nAnswer:"
doc_to_target: "{{{{answer}}}}"
generation_kwargs: {{until: ["\\n"], do_sample: false, temperature: 0.0, max_gen_toks: 24}}
filter_list:
  - name: strict-match
    filter: [{{function: regex, regex_pattern: "^ ?([A-Z][a-z]+(?: [A-Z][a-z]+)?)[.]?$"}},
             {{function: take_first}}]
  - name: flexible-extract
    filter: [{{function: regex, regex_pattern: "([A-Z][a-z]+(?: [A-Z][a-z]+)?)"}},
             {{function: take_first}}]
metric_list:
  - {{metric: exact_match, aggregation: mean, higher_is_better: true, ignore_case: true}}
metadata: {{version: 1.0}}
"""
_CHOICE = """
task: capitals_choice
dataset_path: json
dataset_kwargs: {{data_files: {{test: {rows}}}}}
output_type: multiple_choice
test_split: test
doc_to_text: "Question: {{{{question}}}}\\nAnswer:"
doc_to_choice: "{{{{choices}}}}"
doc_to_target: label
metric_list:
  - {{metric: acc}}
  - {{metric: acc_norm}}
metadata: {{version: 1.0}}
"""


def _run(*words: object, **variables: str) -> None:
    away = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "NO_PROXY": "*", "no_proxy": "*"}
    keys = {"OPENAI_API_KEY": "none", "LOCAL_API_KEY": "none"}
    quiet = {"PROMPTFOO_DISABLE_TELEMETRY": "1", "PROMPTFOO_DISABLE_UPDATE": "1"}
    env = {**os.environ, **away, **keys, **quiet, **variables}
    done = subprocess.run([str(word) for word in words], env=env, capture_output=True, text=True)
    if done.returncode not in (0, 100):
        # promptfoo ends with 100 when a test failed.
        sys.exit(f"{' '.join(map(str, words))}\n{done.stdout[-2000:]}{done.stderr[-3000:]}")


def lm_eval(program: str, arm: str, url: str, work: Path) -> None:
    """Record both tasks, and the first once more without its few-shot examples."""
    for folder, shots, tasks in (
        (arm, 2, "capitals"),
        (f"{arm}-zero-shot", 0, "capitals"),
    ):
        yaml = work / folder
        yaml.mkdir(exist_ok=True)
        (yaml / "capitals.yaml").write_text(_GENERATE.format(rows=work / "rows.jsonl", shots=shots))
        target = FIXTURES / "lm_eval" / folder
        shutil.rmtree(target, ignore_errors=True)
        _run(
            program, "run", "--model", "local-completions", "--model_args",
            f"model={arm},base_url={url}/v1/completions,num_concurrent=1,tokenizer_backend=None,"
            "tokenized_requests=False",
            "--tasks", tasks, "--include_path", yaml, "--output_path", target, "--log_samples",
        )  # fmt: skip
        _slim_results(target, work)
    if arm == "q8":
        # No engine here weighs choices over HTTP: lm-eval's own dummy gives numbers by chance.
        target = FIXTURES / "lm_eval" / "choice"
        shutil.rmtree(target, ignore_errors=True)
        (work / arm / "choice.yaml").write_text(_CHOICE.format(rows=work / "rows.jsonl"))
        _run(
            program, "run", "--model", "dummy", "--tasks", "capitals_choice",
            "--include_path", work / arm, "--output_path", target, "--log_samples",
        )  # fmt: skip
        _slim_results(target, work)


def _slim_results(folder: Path, work: Path) -> None:
    """Take out what names the machine."""
    for file in folder.rglob("results_*.json"):
        whole = json.loads(file.read_text())
        whole.pop("pretty_env_info", None)
        file.write_text(json.dumps(whole, indent=1).replace(str(work), "work"))


def inspect(program: str, arm: str, url: str, work: Path) -> None:
    """Record an archive and a JSON file."""
    for form in ("eval", "json"):
        logs = work / f"inspect-{arm}-{form}"
        _run(
            program, "eval", "inspect_task.py", "--model", f"openai-api/local/{arm}",
            "--model-base-url", f"{url}/v1", "--max-tokens", "24", "--temperature", "0",
            "--limit", "12", "--log-dir", logs, "--log-format", form, "--display", "none",
            EVALKIT_ROWS=str(work / "rows.json"), INSPECT_LOG_MODEL_API="false",
            # Else a log holds where this repository was cloned from.
            GIT_DIR=str(work / "none"),
        )  # fmt: skip
        target = FIXTURES / "inspect" / f"{arm}.{form}"
        target.parent.mkdir(exist_ok=True)
        shutil.copyfile(next(logs.glob(f"*.{form}")), target)
        if form == "json":
            whole = json.loads(target.read_text())
            for sample in whole["samples"]:
                sample["events"] = []
                sample.pop("events_data", None)
            target.write_text(json.dumps(whole, indent=1).replace(str(work), "work"))


def nel(program: str, arm: str, url: str, work: Path) -> None:
    """Record a bundle with its results."""
    out = work / f"nel-{arm}"
    _run(
        program, "eval", "run", "--bench", f"{HERE / 'nemo_benchmark.py'}:capitals",
        "--model-url", f"{url}/v1/chat/completions", "--model-id", arm, "--api-key", "none",
        "--temperature", "0", "--max-tokens", "24", "-o", out,
        EVALKIT_ROWS=str(work / "rows.json"),
    )  # fmt: skip
    target = FIXTURES / "nemo" / f"{arm}-0.3"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    bundle = next(out.rglob("eval-*.json"))
    text = bundle.read_text().replace(str(HERE), "makers").replace(str(work), "work")
    (target / bundle.name).write_text(text)
    shutil.copyfile(bundle.parent / "results.jsonl", target / "results.jsonl")


def byob(program: str, arm: str, url: str, work: Path) -> None:
    """Record predictions of a benchmark that is one's own."""
    out = work / f"byob-{arm}"
    _run(
        program, "-m", "nemo_evaluator.contrib.byob.runner",
        "--benchmark-module", HERE / "nemo_byob.py", "--benchmark-name", "capitals",
        "--dataset", work / "rows.jsonl", "--output-dir", out, "--model-url", f"{url}/v1",
        "--model-id", arm, "--temperature", "0", "--max-tokens", "24", "--save-predictions",
    )  # fmt: skip
    target = FIXTURES / "nemo" / f"{arm}-0.2"
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(out, target)


def promptfoo(program: str, urls: dict[str, str], work: Path) -> None:
    """Record both arms in one file."""
    providers = [
        {
            "id": f"openai:chat:{arm}",
            "label": arm,
            "config": {
                "apiBaseUrl": f"{url}/v1",
                "apiKey": "none",
                "temperature": 0,
                "max_tokens": 24,
            },
        }
        for arm, url in urls.items()
    ]
    tests = [
        {
            "vars": {"question": row["question"]},
            "assert": [{"type": "icontains", "value": row["answer"]}],
        }
        for row in rows()
    ]
    config = {
        "description": "capitals",
        "prompts": ["{{question}} Answer with one word."],
        "providers": providers,
        "tests": tests,
    }
    (work / "promptfooconfig.json").write_text(json.dumps(config))
    out = FIXTURES / "promptfoo" / "both.json"
    out.parent.mkdir(exist_ok=True)
    _run(
        program, "eval", "-c", work / "promptfooconfig.json", "-o", out, "--no-cache",
        "--no-progress-bar", "-j", "1", PROMPTFOO_CONFIG_DIR=str(work / "promptfoo"),
    )  # fmt: skip
    whole = json.loads(out.read_text())
    for row in whole["results"]["results"]:
        row.pop("metadata", None)
        row.get("response", {}).pop("metadata", None)
    out.write_text(json.dumps(whole, indent=1).replace(str(work), "work").replace(str(out), "out"))


MAKERS: dict[str, Callable[[str, str, str, Path], None]] = {
    "lm-eval": lm_eval,
    "inspect": inspect,
    "nel": nel,
    "byob": byob,
}


def main(words: list[str]) -> None:
    """Run every tool that is given, one arm after the other."""
    programs = dict(word.split("=", 1) for word in words)
    if not programs or programs.keys() - {*MAKERS, "promptfoo"}:
        sys.exit(__doc__)
    os.chdir(HERE)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        (work / "rows.json").write_text(json.dumps(rows()))
        lines = "".join(json.dumps(row) + "\n" for row in rows())
        (work / "rows.jsonl").write_text(lines)
        with (
            served(ARMS["q8"], "--alias", "q8") as q8,
            served(ARMS["low"], "--alias", "low") as low,
        ):
            urls = {"q8": q8, "low": low}
            for name, maker in MAKERS.items():
                for arm in urls if name in programs else ():
                    print(name, arm, flush=True)
                    maker(programs[name], arm, urls[arm], work)
            if "promptfoo" in programs:
                print("promptfoo", flush=True)
                promptfoo(programs["promptfoo"], urls, work)


if __name__ == "__main__":
    main(sys.argv[1:])
