"""Real commands against servers that repeat every secret: nothing that is left holds one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from evalkit.cli import main
from tests.cli.conftest import Refused, Run
from tests.quiz import write_quiz
from tests.servers.parrot import STEPS, Parrot, ParrotServer, leaks, told

KEY = "sk-proj-qW8eR5tY2uI9oP6aS3dF0gH7jK4lZ1xC"
HEADER = "hdr_zX9cV8bN7mQ6wE5rT4yU3iO2pA1sD0"
BODY = "bdy_Lk3Jh2Gf1Ds9Aq8Zw7Xe6Cr5Vt4By"
PASSWORD = "pw#Nn?Mm/7Bb@Vv5Cc%3Xx:Zz1Aa9Ss"
PROXY = "prx_Yy6Tt4Rr2Ee0Ww8Qq1Aa3Ss5Dd7Ff"
ENV = {
    "ARM_KEY": KEY,
    "GATE_TOKEN": HEADER,
    "BODY_SECRET": BODY,
    "URL_PASSWORD": PASSWORD.replace("%", "%25").replace("#", "%23").replace("?", "%3F")
    .replace("/", "%2F").replace("@", "%40").replace(":", "%3A"),
}  # fmt: skip
SECRETS = {KEY, HEADER, BODY, PASSWORD, PROXY, ENV["URL_PASSWORD"]}

CONFIG = """\
endpoints:
  keyed:
    kind: openai
    base_url: {one}/tenants/${{GATE_TOKEN}}/v1
    model: fake
    api_key_env: ARM_KEY
    headers: {{X-Gate: "${{GATE_TOKEN}}", X-Team: evaluation}}
    extra_body: {{user: "${{BODY_SECRET}}"}}
  basic:
    kind: openai
    base_url: {two}
    model: fake
    api_key_env: ""
    headers: {{X-Api-Key: "${{GATE_TOKEN}}"}}
    extra_body: {{api_key: "${{BODY_SECRET}}"}}
    stream: true
requests: {{max_attempts: 2, backoff_base: 0}}
"""


def parrot(*steps: str) -> ParrotServer:
    return ParrotServer(Parrot(SECRETS, steps or STEPS))


def configured(folder: Path, one: str, two: str) -> Path:
    path = folder / "evalkit.yaml"
    two = two.replace("http://", "http://me:${URL_PASSWORD}@")
    path.write_text(CONFIG.format(one=one, two=two), encoding="utf-8")
    return path


def assert_clean(texts: dict[str, str]) -> None:
    found = {name: leaks(text, SECRETS) for name, text in texts.items()}
    assert {name: parts for name, parts in found.items() if parts} == {}


def test_nothing_that_a_comparison_leaves_holds_a_secret(evalkit: Run, tmp_path: Path) -> None:
    quiz = write_quiz(tmp_path / "quiz", 32)
    with parrot() as a, parrot() as b:
        config = configured(tmp_path, a.url, b.url)
        ended = evalkit(
            "compare", "keyed", "basic", "-c", config, "-t", quiz, "-o", "o", "-v",
            "--allow-confounded", "--junit", "j.xml", "--md", "m.md", "--html", "h.html", env=ENV,
        )  # fmt: skip
        checked = evalkit("check", "keyed", "basic", "-c", config, "-v", "--json", env=ENV)
        assert a.parrot.heard == {KEY, HEADER, BODY}
        assert b.parrot.heard == {PASSWORD, HEADER, BODY}
        assert not a.parrot.seen_in_arguments | b.parrot.seen_in_arguments
    again = evalkit("report", "o", "--json", "--lang", "zh")
    assert "Traceback" not in ended.err
    assert ended.code in (4, 5), ended.err
    assert again.json["exit_code"] == ended.code
    texts = told(tmp_path, *(e.out + e.err for e in (ended, checked, again)))
    for arm in ("keyed", "basic"):
        assert "alpha8. ***" in texts[f"o/runs/{arm}/completions.jsonl"]
    assert "/tenants/***/v1" in texts["o/runs/keyed/header.json"]
    assert_clean(texts)


@pytest.mark.parametrize("step", ["bad", "redirect", "deny", "error-200", "cut"])
def test_no_error_of_a_run_holds_a_secret(evalkit: Run, tmp_path: Path, step: str) -> None:
    """The server fails at the preflight already, so that its words end the command."""
    quiz = write_quiz(tmp_path / "quiz", 4)
    with parrot(step) as a:
        config = configured(tmp_path, a.url, a.url)
        ended = evalkit(
            "run", "keyed", "-c", config, "-t", quiz, "-o", "o", "-v", "--json", env=ENV
        )
        checked = evalkit("check", "keyed", "-c", config, "--json", env=ENV)
        assert KEY in a.parrot.heard
    assert checked.code == 5
    assert "Traceback" not in ended.err
    assert_clean(told(tmp_path, ended.out, ended.err, checked.out, checked.err))


def test_a_proxy_that_repeats_its_password(evalkit: Run, tmp_path: Path) -> None:
    with parrot("html") as proxy:
        config = configured(tmp_path, "http://model.invalid", "http://model.invalid")
        env = ENV | {"http_proxy": proxy.url.replace("http://", f"http://me:{PROXY}@")}
        ended = evalkit("check", "keyed", "-c", config, "-v", "--json", env=env)
        assert PROXY in proxy.parrot.heard, ended.err
    assert ended.code == 5
    assert_clean(told(tmp_path, ended.out, ended.err))


def test_a_password_on_the_command_line_goes_no_further(evalkit: Run, tmp_path: Path) -> None:
    quiz = write_quiz(tmp_path / "quiz", 2)
    with parrot("answer") as a:
        target = a.url.replace("http://", f"http://me:{ENV['URL_PASSWORD']}@") + "#fake"
        ended = evalkit("run", target, "-t", quiz, "-o", "o", "-v")
        twice = evalkit("compare", target, target, "-t", quiz)
        assert a.parrot.heard == {PASSWORD}
    assert ended.code == 0, ended.err
    assert "is given twice" in twice.err
    assert_clean(told(tmp_path, ended.out, ended.err, twice.out, twice.err))


@pytest.mark.parametrize(
    "target",
    [
        "http://me:{}@h:1/v1#m",
        "http://{}@h:1#m",
        "http://me:12{}@h#m",
        "me:{}@h:1/v1#m",
        "ftp://me:{}@h#m",
        "http//me:{}@h#m",
        "http://me:{}@h",
        "http://me:{}@[::1",
        "http://h:1/v1?api_key={}#m",
    ],
)
@pytest.mark.parametrize("password", ["#hush", "?hush", "/hush", "hu#sh@hush", "h/hush?a#hush"])
def test_a_password_that_splits_its_url_is_not_repeated(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    target: str,
    password: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(["check", target.format(password), "--json"])
    assert ended.value.code == 2
    printed = capsys.readouterr()
    assert len(printed.err.splitlines()) == 1
    assert "hush" not in printed.out + printed.err
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("lines", "place"),
    [
        (f"headers: {{Authorization: Bearer {KEY}}}", "endpoints.a.headers.Authorization"),
        ("headers: {X-Api-Key: abc}", "endpoints.a.headers.X-Api-Key"),
        ("extra_body: {nested: {apiKey: abc}}", "endpoints.a.extra_body.nested.apiKey"),
        (f"extra_body: {{user: {KEY}}}", "endpoints.a.extra_body.user"),
        (f"label: {KEY}", "endpoints.a.label"),
    ],
)
def test_a_key_in_plain_text_is_refused(
    refused: Refused, tmp_path: Path, lines: str, place: str
) -> None:
    path = tmp_path / "c.yaml"
    start = "endpoints:\n  a:\n    kind: openai\n    base_url: http://h\n    model: m\n    "
    path.write_text(start + lines + "\n", encoding="utf-8")
    refused(["check", "a", "-c", str(path)], [place, "plain text", "${NAME}", "api_key_env"])


def test_a_password_in_a_configuration_is_refused(refused: Refused, tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text("baseline: http://me:hush@h#m\ncandidates: [q8]\n", encoding="utf-8")
    refused(["compare", "-c", str(path)], ["Key 'baseline'", "plain text"])
    refused(
        ["compare", "q8", "q4", "--set", "endpoints.a.headers.Cookie=hush"], ["--set", "Cookie"]
    )


def test_files_are_as_private_as_the_umask_says(tmp_path: Path, evalkit: Run) -> None:
    quiz = write_quiz(tmp_path / "quiz", 2)
    before = os.umask(0o077)
    try:
        with parrot("answer") as a:
            assert evalkit("run", f"{a.url}#fake", "-t", quiz, "-o", "o").code == 0
    finally:
        os.umask(before)
    modes = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "o").iterdir()}
    assert modes == {"header.json": 0o600, "completions.jsonl": 0o600, "scores.jsonl": 0o600}
