"""How an endpoint is reached and how hard it is asked, as a user of the command line sees it."""

from __future__ import annotations

import json
import ssl
from pathlib import Path
from typing import Any

import pytest
import trustme

from tests.cli.conftest import Refused, Run
from tests.quiz import script, write_quiz
from tests.servers.fake import FakeServer
from tests.servers.forward import TlsFront
from tests.servers.limited import LimitedServer

N = 40


def header(folder: Path, arm: str) -> Any:
    (path,) = (folder / "runs").glob(f"*{arm}*/header.json")
    return json.loads(path.read_text(encoding="utf-8"))


def quizzed(server: FakeServer | LimitedServer) -> list[str]:
    """Return the prompts of the quiz that a server was asked: the preflight asks others."""
    return [entry["prompt"] for entry in server.log if "code word of box" in entry["prompt"]]


def test_one_number_of_connections_is_found_for_both_arms(evalkit: Run, tmp_path: Path) -> None:
    # The warm-up may take half as many requests as there are prompts.
    quiz = write_quiz(tmp_path / "quiz", 160)
    words = ["-t", quiz, "-o", "out", "-j", "auto", "--display", "plain"]
    with (
        LimitedServer(5, script(160, delay=0.1)) as a,
        LimitedServer(3, script(160, wrong=range(80), delay=0.1)) as b,
    ):
        arms = [f"{a.url}#fake", f"{b.url}#fake"]
        ended = evalkit("compare", *arms, *words)
        warm = len(quizzed(a)), len(quizzed(b))
        again = evalkit("compare", *arms, *words)
        # The preflight asks; the warm-up and the run do not.
        assert (len(quizzed(a)), len(quizzed(b))) == warm
        assert min(warm) >= 160
    assert (ended.code, again.code) == (3, 3), ended.err
    assert "3 requests at once for every arm (fastest without errors: " in ended.err
    assert "3 requests at once for every arm, as before" in again.err
    out = tmp_path / "out"
    ports = [server.url.rpartition(":")[2] for server in (a, b)]
    said = [header(out, port)["settings"] for port in ports]
    assert [one["max_connections"] for one in said] == [3, 3]
    assert [one["connections_found"] for one in said] == [5, 3]
    comparison = json.loads((out / "comparison.json").read_text(encoding="utf-8"))
    assert comparison["settings"]["max_connections"] == 3
    assert sorted(comparison["settings"]["connections_found"].values()) == [3, 5]
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "connections_found" in page


def test_answers_of_the_warm_up_are_no_evidence(evalkit: Run, tmp_path: Path) -> None:
    quiz = write_quiz(tmp_path / "quiz", N)
    with LimitedServer(2, script(N, delay=0.1)) as server:
        ended = evalkit(
            "run", f"{server.url}#fake", "-t", quiz, "-o", "out", "-j", "auto", "--json"
        )
        assert ended.code == 0, ended.err
        asked = quizzed(server)
    lines = (tmp_path / "out" / "completions.jsonl").read_bytes().splitlines()
    assert len(lines) == N
    assert len(asked) > N, "every prompt was asked again when it counted"
    assert len(set(asked)) == N


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-j", "many"], "neither a number nor 'auto'"),
        (["-j", "0"], "from 1 to 4096"),
        (["--set", "max_connections=fast"], "or auto"),
        (["--set", "max_connections=true"], "or auto"),
        (["--set", "sampling.logprobs=0"], "sampling.logprobs"),
    ],
)
def test_numbers_that_are_none(refused: Refused, words: list[str], said: str) -> None:
    refused(["run", "q8", *words], [said])


def test_a_certificate_of_ones_own_needs_its_authority(evalkit: Run, tmp_path: Path) -> None:
    quiz = write_quiz(tmp_path / "quiz", N)
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    with FakeServer(script(N)) as server, TlsFront(server.url, context) as front:
        target = f"https://localhost:{front.port}#fake"
        words = ["run", target, "-t", quiz, "-q"]
        for verb in (words, ["check", target]):
            refused = evalkit(*verb)
            assert refused.code == 5
            assert "ca_file" in refused.err
            assert "Traceback" not in refused.err
        assert not server.log
        trusted = evalkit(*words, env={"SSL_CERT_FILE": str(tmp_path / "ca.pem")})
    assert trusted.code == 0, trusted.err
    assert len(quizzed(server)) == N
