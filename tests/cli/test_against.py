"""A stored release as the baseline: real sockets, real folders, the whole program."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evalkit import Comparison, api, compare, load
from evalkit.errors import EvalKitError, InvalidComparison, StoreError, UsageError
from tests.cli.conftest import Run
from tests.cli.test_review import mark
from tests.quiz import script, write_quiz
from tests.servers.fake import FakeServer

N = 24
NOBODY = "http://127.0.0.1:9#fake"


class Releases:
    """Servers whose engine and weights are told, and comparisons of them."""

    def __init__(self, folder: Path, servers: ExitStack) -> None:
        self.folder, self._servers = folder, servers
        self.told: list[str] = []

    def serve(self, version: str, quantization: str, *wrong: int, template: str = "A") -> str:
        entry = {"id": "fake", "owned_by": "vllm", "meta": {"ftype": quantization, "size": 9}}
        pages = {
            "/version": {"version": version},
            "/v1/models": {"data": [entry]},
            "/props": {"chat_template": template},
        }
        made = replace(script(N, wrong=wrong), pages=pages)
        return f"{self._servers.enter_context(FakeServer(made)).url}#fake"

    def first(self, **settings: Any) -> Comparison:
        """Compare two builds as they were released first, in `v1`."""
        targets = self.serve("0.10", "bf16", 1), self.serve("0.10", "Q4_K", 2)
        tasks = str(write_quiz(self.folder / "quiz", N))
        whole = {"tasks": tasks, "aa": 0.0, "output": self.folder / "v1", **settings}
        return compare(*targets, **whole)

    def against(
        self, release: str, target: str, *, output: str = "v2", **settings: Any
    ) -> Comparison:
        self.told.clear()
        return compare(
            target,
            against=self.folder / release,
            output=self.folder / output,
            listener=api.Listener(on_stage=self.told.append),
            **settings,
        )

    def rewrite(self, file: str, **changes: Any) -> None:
        path = self.folder / file
        data = json.loads(path.read_text(encoding="utf-8"))
        path.write_text(json.dumps({**data, **changes}), encoding="utf-8")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Releases]:
    with ExitStack() as servers:
        releases = Releases(tmp_path_factory.mktemp("releases"), servers)
        releases.first()
        yield releases


@pytest.fixture
def releases(made: Releases, tmp_path: Path) -> Iterator[Releases]:
    shutil.copytree(made.folder / "v1", tmp_path / "v1")
    with ExitStack() as servers:
        yield Releases(tmp_path, servers)


def test_a_new_engine_is_told_everywhere(releases: Releases, evalkit: Run) -> None:
    target = releases.serve("0.11", "bf16", 3)
    ended = evalkit("compare", target, "--against", "v1", "-o", "v2", "--json")
    assert ended.code == 4, ended.err
    assert "the baseline there, since no candidate was recommended" in ended.err
    told = ended.json["against"]
    # No hash of the weights is told, and nothing else speaks for other ones.
    sentence = "new engine; whether the weights are new is not told"
    detail = "engine version 0.10 → 0.11"
    assert f"{sentence} ({detail})" in told["changes"][0]["text"]
    assert told["changes"][0]["fields"]["engine_version"] == ["0.10", "0.11"]
    assert told["rollback"] is None
    page = (releases.folder / "v2" / "report.html").read_text(encoding="utf-8")
    markdown = (releases.folder / "v2" / "report.md").read_text(encoding="utf-8")
    printed = " ".join(evalkit("report", "v2", "--lang", "zh").out.split())
    assert f"{sentence} ({detail})" in page
    assert sentence in markdown
    assert "引擎是新的；权重是否变化无从得知（引擎版本 0.10 → 0.11）" in printed.replace(
        " （", "（"
    )


def test_a_line_of_releases_is_followed_to_where_the_answers_are(releases: Releases) -> None:
    first = releases.against("v1", releases.serve("0.10", "Q4_K", 3)).content
    assert first.against is not None
    assert (first.against.role, first.against.chosen) == ("baseline", "kept")
    assert (first.against.changes[0].weights, first.against.changes[0].engine) == ("new", "same")
    # What was kept there lies in the first folder: its answers are found through the second,
    # also when both have moved.
    moved = releases.folder / "elsewhere"
    moved.mkdir()
    for name in ("v1", "v2"):
        shutil.move(releases.folder / name, moved / name)
    again = releases.against("elsewhere/v2", releases.serve("0.11", "IQ3", 4), output="v3").content
    assert again.against is not None
    assert (again.against.changes[0].weights, again.against.changes[0].engine) == ("new", "new")
    assert again.baseline.endpoint.endswith("@v1")


def test_a_shipped_release_is_the_baseline_and_the_rollback_target(
    releases: Releases, made: Releases
) -> None:
    name = load(releases.folder / "v1").content.candidates[0].endpoint
    advice = {"action": "ship_candidate", "endpoint": name, "candidate": name}
    releases.rewrite("v1/comparison.json", recommendation=advice)
    target = releases.serve("0.11", "Q4_K", 3)
    against = releases.against("v1", target).content.against
    assert against is not None
    assert (against.role, against.chosen, against.endpoint) == ("candidate", "recommended", name)
    assert against.rollback is not None
    assert against.rollback.folder == str(releases.folder / "v1")
    assert against.rollback.identity["engine_version"] == "0.10"
    assert against.rollback.sampling["temperature"] == 0
    # The chain goes on: v2 ships nothing, so what v1 shipped is still what one goes back to.
    later = releases.against("v2", releases.serve("0.12", "Q4_K", 4), output="v3").content.against
    assert later is not None
    assert later.rollback == against.rollback


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"limit": 5}, ["limit not set → 5"]),
        ({"tasks": "math", "seed": 7}, ["tasks quiz → math", "seed 0 → 7"]),
        ({"policy": {"margins": {"accuracy": 1}}}, ["policy.margins.accuracy 2.0 → 1.0"]),
        ({"policy": "strict", "epochs": 2}, ["policy.alpha 0.05 → 0.025", "epochs 1 → 2"]),
        ({"sampling": {"temperature": 0.7}}, ["sampling.temperature 0.0 → 0.7"]),
    ],
)
def test_what_is_asked_or_decided_otherwise_is_refused_by_name(
    releases: Releases, settings: dict[str, Any], named: list[str]
) -> None:
    with pytest.raises(InvalidComparison) as refused:
        releases.against("v1", NOBODY, **settings)
    for name in named:
        assert name in refused.value.message
    assert not (releases.folder / "v2").exists()


def test_prompts_that_changed_since_are_refused(releases: Releases, tmp_path: Path) -> None:
    own = Releases(tmp_path / "own", releases._servers)
    own.first()
    with (own.folder / "quiz" / "samples.jsonl").open("a", encoding="utf-8") as file:
        row = {"id": "new", "language": "en", "category": "boxes", "input": "One more?"}
        row["target"] = {"kind": "answer", "aliases": ["x"], "rivals": []}  # type: ignore[assignment]
        file.write(json.dumps(row) + "\n")
    with pytest.raises(InvalidComparison, match="taskset 'quiz' has changed since"):
        own.against("v1", NOBODY)
    shutil.rmtree(own.folder / "quiz")
    with pytest.raises(InvalidComparison, match="not here any more"):
        own.against("v1", NOBODY)


def test_the_same_by_other_words_is_no_difference_and_old_scores_are_made_anew(
    releases: Releases, made: Releases
) -> None:
    path = releases.folder / "v1" / "comparison.json"
    rows = json.loads(path.read_text(encoding="utf-8"))["tasksets"]
    releases.rewrite("v1/comparison.json", tasksets=[{**row, "scorer_version": 0} for row in rows])
    words = {"tasks": [str(made.folder / "quiz")], "policy": "default", "seed": 0}
    against = releases.against("v1", releases.serve("0.11", "bf16", 3), **words).content.against
    assert against is not None
    assert against.rescored["quiz"][0] == "facts v0"
    assert any("the stored answers are scored again by facts v" in text for text in releases.told)


def test_a_redacted_release_cannot_be_scored_again(tmp_path: Path) -> None:
    with ExitStack() as servers:
        own = Releases(tmp_path, servers)
        own.first(redact=True, policy="strict")
        # Without a policy of one's own, that of the release decides.
        found = own.against("v1", own.serve("0.11", "bf16", 3), redact=True).content
        assert found.policy["alpha"] == 0.025
        assert found.against is not None
        assert found.against.adopted_policy
        path = tmp_path / "v1" / "comparison.json"
        rows = json.loads(path.read_text(encoding="utf-8"))["tasksets"]
        own.rewrite("v1/comparison.json", tasksets=[{**row, "scorer_version": 0} for row in rows])
        with pytest.raises(InvalidComparison, match="no text is left to score"):
            own.against("v1", NOBODY, output="v3", redact=True)


def test_what_no_release_explains_is_refused_before_anything_is_asked(releases: Releases) -> None:
    target = releases.serve("0.11", "bf16", 3, template="B")
    with pytest.raises(InvalidComparison, match="chat templates differ"):
        releases.against("v1", target)
    assert not (releases.folder / "v2").exists()
    allowed = releases.against("v1", target, allow_confounded=True).content.results[0]
    assert any(threat.code == "CONFOUNDED" for threat in allowed.threats)


@pytest.mark.parametrize(
    ("release", "arm", "error", "named"),
    [
        ("nowhere", None, StoreError, "nowhere does not exist"),
        ("v1/runs", None, StoreError, "neither a run folder nor a comparison folder"),
        ("v1", "q5", UsageError, "Unknown arm 'q5'"),
    ],
)
def test_what_is_no_release_is_told(
    releases: Releases, release: str, arm: str | None, error: type[EvalKitError], named: str
) -> None:
    with pytest.raises(error, match=named):
        releases.against(release, NOBODY, against_arm=arm)


def test_answers_that_are_gone_are_told(releases: Releases) -> None:
    shutil.rmtree(releases.folder / "v1" / "runs")
    with pytest.raises(StoreError, match="does not hold the answers of"):
        releases.against("v1", NOBODY)
    releases.rewrite("v1/comparison.json", baseline={
        **json.loads((releases.folder / "v1/comparison.json").read_bytes())["baseline"],
        "endpoint": "../../v1",
    })  # fmt: skip
    with pytest.raises(StoreError, match="does not hold the answers of"):
        releases.against("v1", NOBODY)


def test_marks_of_reviewers_and_a_self_test_find_the_answers_of_the_release(
    releases: Releases, evalkit: Run
) -> None:
    releases.against("v1", releases.serve("0.11", "bf16", 3))
    mark(releases.folder / "v2", 0, 5, "incorrect")
    (result,) = load(releases.folder / "v2").content.results
    assert result.review is not None
    assert result.review.before.difference.value != result.review.after.difference.value
    ended = evalkit("selftest", "v2", "--repeats", "5", "-q", "--damage", "wrong=10%")
    assert ended.code == 0, ended.err


def test_a_run_folder_alone_is_a_release(releases: Releases) -> None:
    run = next((releases.folder / "v1" / "runs").iterdir())
    place = str(run.relative_to(releases.folder))
    against = releases.against(place, releases.serve("0.11", "Q4_K", 3)).content.against
    assert against is not None
    assert (against.role, against.verdict) == ("run", None)
    assert against.rollback is not None
    assert against.rollback.endpoint == run.name
