"""`evalkit check`, and what `compare` and `run` make of what it finds."""

from __future__ import annotations

import json
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from evalkit.collect.preflight.sampling import STORY
from tests.cli.conftest import Ended, Run
from tests.quiz import script, write_quiz
from tests.servers.fake import FakeServer, Script

N = 30
LLAMA = {"build_info": "b7", "chat_template": "{{x}}"}


def pages(template: str = "{{x}}", **meta: Any) -> dict[str, Any]:
    """What a llama.cpp server says of itself."""
    entry = {"id": "fake", "owned_by": "llamacpp", "meta": {"n_ctx": 4096, **meta}}
    return {"/v1/models": {"data": [entry]}, "/props": {**LLAMA, "chat_template": template}}


def quantized(ftype: str, size: int, **more: Any) -> Script:
    found = pages(ftype=ftype, size=size, n_params=10)
    return replace(script(N, **more), pages=found)


def codes(folder: Path) -> list[str]:
    comparison = json.loads((folder / "comparison.json").read_text("utf-8"))
    return [code["code"] for code in comparison["results"][0]["verdict"]["codes"]]


def asked(*servers: FakeServer) -> int:
    return sum("code word" in entry["prompt"] for server in servers for entry in server.log)


class TestCheck:
    def test_a_sound_pair(self, evalkit: Run) -> None:
        with FakeServer(Script()) as a, FakeServer(Script()) as b:
            ended = evalkit("check", f"{a.url}#fake", f"{b.url}#fake")
            told = evalkit("check", f"{a.url}#fake", f"{b.url}#fake", "--json")
        assert ended.code == told.code == 0, ended.out
        assert "FAILED" not in ended.out
        assert "the same endpoint twice?" in ended.out
        assert "cost: " in ended.out
        body = told.json
        assert body["comparable"] is True
        assert len(body["findings"]) == 3
        requests = [cost["requests"] for cost in body["cost"].values()]
        assert sum(requests) <= 40

    def test_a_bad_one_exits_with_5_and_shows_the_evidence(self, evalkit: Run) -> None:
        with FakeServer(Script(pages=pages())) as a, FakeServer(Script(pages=pages("y"))) as b:
            ended = evalkit("check", f"{a.url}#fake", f"{b.url}#fake", "-v")
            told = evalkit("check", f"{a.url}#fake", f"{b.url}#fake", "--json")
        assert ended.code == told.code == 5
        assert "DIFFERS" in ended.out
        assert "chat templates differ" in ended.out
        assert '"baseline"' in ended.out
        bad = [f for group in told.json["findings"].values() for f in group if f["bad"]]
        assert [f["code"] for f in bad] == ["template_hash"]

    def test_how_far_the_context_is_tried(self, evalkit: Run) -> None:
        with FakeServer(Script()) as a:
            evalkit("check", f"{a.url}#fake", "--context", "3000")
            longest = max(len(entry["prompt"].split()) for entry in a.log)
        assert 2500 < longest < 3000

    def test_an_answer_cannot_command_the_terminal(self, evalkit: Run) -> None:
        hostile = Script(message={"content": "\x1b]0;mine\x07\x1b[2J\u202eevil\x9b1m"})
        with FakeServer(hostile) as a:
            ended = evalkit("check", f"{a.url}#fake", "-v")
        assert "evil" in ended.out
        assert not {"\x1b", "\x07", "\u202e", "\x9b"} & set(ended.out + ended.err)

    def test_nothing_to_check(self, evalkit: Run) -> None:
        ended = evalkit("check")
        assert ended.code == 2
        assert "Nothing is to be checked" in ended.err


class TestWeights:
    @pytest.fixture
    def manifest(self, evalkit: Run, tmp_path: Path) -> Path:
        (tmp_path / "weights").mkdir()
        (tmp_path / "weights" / "model.safetensors").write_bytes(b"weights")
        ended = evalkit("check", "--write-manifest", "weights")
        assert ended.code == 0, ended.err
        path = tmp_path / "manifest.json"
        path.write_text(ended.out, "utf-8")
        return path

    def test_they_are_what_was_written_down(
        self, evalkit: Run, manifest: Path, tmp_path: Path
    ) -> None:
        words = ("check", "--verify-weights", manifest, "--weights", "weights")
        assert evalkit(*words).code == 0
        (tmp_path / "weights" / "model.safetensors").write_bytes(b"changed")
        ended = evalkit(*words)
        assert ended.code == 5
        assert "model.safetensors" in ended.out
        assert evalkit(*words, "--json").json["weights"]["equal"] is False

    def test_a_manifest_among_its_files_is_none_of_them(
        self, evalkit: Run, manifest: Path, tmp_path: Path
    ) -> None:
        inside = manifest.rename(tmp_path / "weights" / "manifest.json")
        assert evalkit("check", "--verify-weights", inside).code == 0

    def test_those_of_a_served_checkpoint(
        self, evalkit: Run, manifest: Path, tmp_path: Path
    ) -> None:
        entry = {"id": "fake", "owned_by": "vllm", "root": str(tmp_path / "weights")}
        served = Script(pages={"/v1/models": {"data": [entry]}})
        with FakeServer(served) as a, FakeServer(Script()) as b:
            assert evalkit("check", f"{a.url}#fake", "--verify-weights", manifest).code == 0
            elsewhere = evalkit("check", f"{b.url}#fake", "--verify-weights", manifest)
        assert elsewhere.code == 2
        assert "--weights" in elsewhere.err


class TestCompare:
    def compare(self, evalkit: Run, quiz: Path, a: FakeServer, b: FakeServer, *more: str) -> Ended:
        words = ("compare", f"{a.url}#fake", f"{b.url}#fake", "-t", str(quiz), "-o", "out")
        return evalkit(*words, "--aa", "0", *more)

    def test_nothing_is_spent_on_a_confounded_pair(self, evalkit: Run, tmp_path: Path) -> None:
        quiz = write_quiz(tmp_path / "quiz", N)
        one = replace(script(N), pages=pages())
        other = replace(script(N, wrong=[1]), pages=pages("y"))
        with FakeServer(one) as a, FakeServer(other) as b:
            ended = self.compare(evalkit, quiz, a, b)
            assert ended.code == 5
            assert "chat templates differ" in ended.err
            assert "--allow-confounded" in ended.err
            assert asked(a, b) == 0

    @pytest.mark.parametrize("lang", ["en", "zh"])
    def test_what_is_allowed_stands_on_the_first_screen(
        self, evalkit: Run, tmp_path: Path, lang: str
    ) -> None:
        quiz = write_quiz(tmp_path / "quiz", N)
        one = replace(script(N), pages=pages())
        other = replace(script(N, wrong=[1]), pages=pages("y"))
        with FakeServer(one) as a, FakeServer(other) as b:
            ended = self.compare(evalkit, quiz, a, b, "--allow-confounded", "--lang", lang)
        assert ended.code == 4, ended.err
        first = first_screen((tmp_path / "out" / "report.html").read_text("utf-8"))
        assert "chat templates differ" in first
        assert ("allowed although they differ" if lang == "en" else "聊天模板：") in first

    def test_an_endpoint_that_fails_by_itself_is_refused(
        self, evalkit: Run, tmp_path: Path
    ) -> None:
        quiz = write_quiz(tmp_path / "quiz", N)
        config = tmp_path / "c.yaml"
        with FakeServer(script(N)) as a, FakeServer(script(N)) as b:
            config.write_text(
                "endpoints:\n"
                f"  a: {{kind: openai, base_url: '{a.url}', model: fake}}\n"
                f"  b: {{kind: openai, base_url: '{b.url}', model: fake,\n"
                "      extra_body: {stop: []}}\n",
                "utf-8",
            )
            ended = evalkit("compare", "a", "b", "-c", config, "-t", quiz, "-o", "out")
            assert asked(a, b) == 0
            alone = evalkit("run", "b", "-c", config, "-t", quiz, "-o", "b")
        assert ended.code == alone.code == 5
        assert "'b' fails the preflight: It ignores the stop string" in ended.err
        assert "fails the preflight" in alone.err

    def test_a_field_that_one_refuses_is_sent_to_none(self, evalkit: Run, tmp_path: Path) -> None:
        quiz = write_quiz(tmp_path / "quiz", N)
        picky = replace(script(N, wrong=[1]), refuses={"top_k": "top_k is not supported"})
        with FakeServer(script(N)) as a, FakeServer(picky) as b:
            ended = self.compare(evalkit, quiz, a, b)
            assert ended.code == 4, ended.err
            bodies = [e["body"] for s in (a, b) for e in s.log if "code word" in e["prompt"]]
        assert len(bodies) == 2 * N
        assert not [body for body in bodies if "top_k" in body]
        assert all("min_p" in body for body in bodies)
        first = first_screen((tmp_path / "out" / "report.html").read_text("utf-8"))
        assert "one refuses them: top_k" in first
        for name in (tmp_path / "out" / "runs").iterdir():
            assert json.loads((name / "header.json").read_text("utf-8"))["omitted"] == ["top_k"]

    def test_the_fake_is_refused(self, evalkit: Run, tmp_path: Path) -> None:
        quiz = write_quiz(tmp_path / "quiz", N)
        with (
            FakeServer(quantized("Q8_0", 100)) as a,
            FakeServer(quantized("F16", 200, wrong=[1])) as b,
            FakeServer(quantized("Q8_0", 100, wrong=[1])) as c,
            FakeServer(quantized("Q4_0", 50, wrong=[1])) as d,
        ):
            plain = self.compare(evalkit, quiz, a, b)
            same = self.compare(evalkit, quiz, a, c)
            assert asked(a, b, c) == 0
            cheaper = self.compare(evalkit, quiz, a, d)
        assert plain.code == same.code == 5
        assert "The candidate is not quantized: it is F16." in plain.err
        assert "neither is the cheaper build" in same.err
        assert cheaper.code == 4, cheaper.err

    def test_recorded_runs_are_held_to_what_was_seen_then(
        self, evalkit: Run, tmp_path: Path
    ) -> None:
        quiz = write_quiz(tmp_path / "quiz", N)
        with (
            FakeServer(replace(script(N), pages=pages())) as a,
            FakeServer(replace(script(N, wrong=[1]), pages=pages("y"))) as b,
            FakeServer(quantized("F16", 200, wrong=[1])) as c,
            FakeServer(quantized("Q8_0", 100)) as d,
        ):
            for name, server in {"a": a, "b": b, "c": c, "d": d}.items():
                ended = evalkit("run", f"{server.url}#fake", "-t", quiz, "-o", name)
                assert ended.code == 0, ended.err
        assert evalkit("compare", "a", "b", "-o", "out").code == 5
        assert codes(tmp_path / "out") == ["CONFIG_MISMATCH"]
        assert evalkit("compare", "d", "c", "-o", "fake").code == 5
        header = json.loads((tmp_path / "a" / "header.json").read_text("utf-8"))
        header["preflight"]["seen"] = {"counting": 7}
        (tmp_path / "a" / "header.json").write_text(json.dumps(header), "utf-8")
        damaged = evalkit("compare", "a", "b", "-o", "damaged")
        assert damaged.code == 2
        assert "is damaged" in damaged.err
        assert codes(tmp_path / "fake") == ["NOT_QUANTIZED"]

    def test_an_endpoint_that_changes_in_the_middle_is_invalid(
        self, evalkit: Run, tmp_path: Path
    ) -> None:
        quiz = write_quiz(tmp_path / "quiz", N)
        before = replace(script(N), pages=pages())
        swapped = replace(before, later=replace(before, pages=pages("y")), after=10)
        with FakeServer(swapped) as a:
            words = ("run", f"{a.url}#fake", "-t", quiz, "-o", "a")
            ended = evalkit(*words, "--set", "requests.canary_every=5")
            again = evalkit(*words)
        assert ended.code == 5
        assert "became another one in the middle of the run: template hash" in ended.err
        lines = (tmp_path / "a" / "completions.jsonl").read_text("utf-8").splitlines()
        assert 0 < len(lines) < N
        assert again.code == 2
        assert "--fresh" in again.err

    def test_other_answers_of_the_same_words_are_found_at_the_end_at_the_latest(
        self, evalkit: Run, tmp_path: Path
    ) -> None:
        quiz = write_quiz(tmp_path / "quiz", N)
        other = replace(script(N), message={"content": "Something else altogether."})
        with FakeServer(replace(script(N), later=other, after=N - 2)) as a:
            ended = evalkit("run", f"{a.url}#fake", "-t", quiz, "-o", "a")
        assert ended.code == 5
        assert "its answer to the" in ended.err

    def test_a_run_goes_on_only_with_the_same_answers(self, evalkit: Run, tmp_path: Path) -> None:
        quiz = write_quiz(tmp_path / "quiz", N)
        with FakeServer(script(N)) as a:
            words = ("run", f"{a.url}#fake", "-t", quiz, "-o", "a")
            assert evalkit(*words).code == 0
            assert evalkit(*words).code == 0
            told = {STORY[0].content: "There was no lighthouse anywhere near that place."}
            a.server.script = replace(script(N), answers={**a.server.script.answers, **told})
            ended = evalkit(*words)
        assert ended.code == 2
        assert "its answer to the" in ended.err


class _FirstScreen(HTMLParser):
    """Text of the page up to its second heading of the second level."""

    def __init__(self) -> None:
        super().__init__()
        self.text: list[str] = []
        self.headings = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.headings += tag == "h2"

    def handle_data(self, data: str) -> None:
        if self.headings <= 1:
            self.text.append(data)


def first_screen(page: str) -> str:
    parser = _FirstScreen()
    parser.feed(page)
    return " ".join(" ".join(parser.text).split())
