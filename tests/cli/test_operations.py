"""`evalkit alerts`, `golive` and `capacity -o`, as a user types them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from evalkit.cli import main
from evalkit.stages.writing import write_comparison
from tests.cli.conftest import Refused
from tests.operations.watched import probed, served, write

MODEL = str(Path(__file__).parent.parent / "capacity" / "published" / "Qwen3.6-35B-A3B")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = served()
    return write(tmp_path / "out" / "q8-vs-q4", made, probed(made))


def ended(words: list[str], capsys: pytest.CaptureFixture[str], code: int = 0) -> tuple[str, str]:
    with pytest.raises(SystemExit) as raised:
        main(words)
    assert raised.value.code == code
    printed = capsys.readouterr()
    assert "Traceback" not in printed.err
    return printed.out, printed.err


def test_rules_come_on_stdout_or_into_a_file(
    folder: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out, err = ended(["alerts", str(folder)], capsys)
    names = [rule["alert"] for rule in yaml.safe_load(out)["groups"][0]["rules"]]
    assert "EvalkitTimeToFirstTokenHigh" in names
    assert "9 rules for 'q4' (vllm), checked by" in err
    file = tmp_path / "rules.yaml"
    words = ["alerts", str(folder), "-o", str(file), "--json", "--acceptance", "62%"]
    body = json.loads(ended(words, capsys)[0])
    assert body["paths"] == {"rules": str(file)}
    assert len(body["rules"]) == 10
    assert yaml.safe_load(file.read_text("utf-8"))["groups"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--window", "5 minutes"), "not a duration"),
        (("--for", "0m"), "not a duration"),
        (("--point", "4096"), "not a measured point"),
        (("--point", "9x9"), "was not measured"),
        (("--selector", "job=vllm"), "not a list of label matchers"),
        (("--window", "59s"), "at least 1m"),
        (("--acceptance", "0"), "not a share"),
        (("--headroom", "x"), "not a share"),
        (("--arm", "q9"), "q9"),
    ],
)
def test_what_makes_no_sense_is_refused_in_a_sentence(
    words: tuple[str, str], said: str, folder: Path, refused: Refused
) -> None:
    refused(["alerts", str(folder), *words], [said])


def test_the_checklist_is_written_in_both_forms(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["golive", str(folder), "--traffic", "5/s"]
    out, _ = ended(words, capsys)
    # At 1% of 18,000 an hour a day brings 4,320 of the 6,684; at 2% enough.
    assert "Send 2% of 18,000 requests an hour to it, for 24 hours at least" in out
    assert "Target: q8, the baseline of this comparison" in out
    assert (folder / "golive.md").read_text("utf-8").strip() == out.strip()
    page = (folder / "golive.html").read_text("utf-8")
    assert "<script" not in page
    assert "Content-Security-Policy" in page
    chinese, _ = ended([*words, "--lang", "zh"], capsys)
    assert "上线检查单" in chinese


def test_what_was_not_measured_is_something_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bare = write(tmp_path / "bare", served(), None)
    out, _ = ended(["golive", str(bare)], capsys)
    missing = [line for line in out.splitlines() if line.startswith("- [ ] **missing**")]
    assert len(missing) == 4
    assert any("evalkit probe" in line for line in missing)
    assert any("evalkit capacity" in line for line in missing)
    assert any("--traffic" in line for line in missing)
    assert "| Time to first token" not in out


@pytest.mark.parametrize(("state", "code"), [("HOLD", 3), ("INCONCLUSIVE", 4), ("INVALID", 5)])
def test_without_a_ship_there_is_no_checklist_but_a_marked_draft(
    state: str, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = served(state)
    place = write(tmp_path, made, probed(made))
    _, err = ended(["golive", str(place)], capsys, code)
    assert f"The verdict on 'q4' is {state}" in err
    assert not (place / "golive.html").exists()
    out, _ = ended(["golive", str(place), "--draft"], capsys)
    assert "DRAFT, NOT FOR RELEASE" in out
    assert 'class="loud"' in (place / "golive.html").read_text("utf-8")


def test_another_engine_than_the_rules_read_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = served(engine="llama.cpp")
    place = write(tmp_path, made, probed(made))
    assert "metrics of vllm, and llama.cpp was measured" in ended(["golive", str(place)], capsys)[0]
    own, _ = ended(["golive", str(place), "--engine", "llama.cpp"], capsys)
    assert "was measured:" not in own
    assert "| Prefill speed |" in own


def test_the_way_back_leads_to_the_newest_earlier_release(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for day, state in ((1, "SHIP"), (2, "HOLD")):
        earlier = replace(served(state), created=f"2026-11-{day:02d}T10:00:00+00:00")
        write_comparison(folder.parent / f"v{day}", earlier)
    out, _ = ended(["golive", str(folder), "--history", str(folder.parent)], capsys)
    assert f"newest release that shipped before (2026-11-01 10:00 UTC, {folder.parent}" in (
        out.replace("\\", "")
    )


def test_a_plan_beside_a_comparison_is_matched_or_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], refused: Refused
) -> None:
    words = ["capacity", MODEL, "--context", "65536", "--concurrency", "4", "--device", "80GB"]
    words += ["--quant", "int4,bf16", "-o", str(folder)]
    refused(words, ["none of its formats (int4, bf16)", "--as"])
    refused([*words, "--as", "q4=int4,q8=bf16"], ["not of the size that was counted"])
    refused([*words, "--as", "q9=int4"], ["q9"])
    refused([*words, "--as", "q4"], ["--as"])
    assert not (folder / "capacity.json").exists()
    served_too = served()

    def sized(info: object, size: int) -> object:
        return replace(info, identity={**info.identity, "weights_bytes": size})  # type: ignore

    made = replace(
        served_too,
        baseline=sized(served_too.baseline, 70 * 10**9),
        candidates=tuple(sized(info, 20 * 10**9) for info in served_too.candidates),
    )
    write(folder, made, probed(made))
    ended([*words, "--as", "q4=int4,q8=bf16"], capsys)
    out, _ = ended(["report", str(folder)], capsys)
    flat = " ".join(out.split())
    assert "it fits one 80.0 GB device with 65,536 tokens × 4, the baseline does not" in flat
    listed, _ = ended(["golive", str(folder)], capsys)
    assert "It fits: " in listed
