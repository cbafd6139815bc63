"""`evalkit capacity` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evalkit.cli import main
from tests.capacity.helpers import PUBLISHED
from tests.cli.conftest import Refused

MODEL = str(PUBLISHED / "Llama-3.1-8B")
MOE = str(PUBLISHED / "Qwen3.6-35B-A3B")


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    with pytest.raises(SystemExit) as ended:
        main(["capacity", *words])
    assert ended.value.code == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["nowhere.gguf"], ["no model at 'nowhere.gguf'"]),
        ([""], ["empty"]),
        ([MODEL, "--quant", "int44"], ["int44", "int4"]),
        ([MODEL, "--quant", ","], ["--quant is empty"]),
        ([MODEL, "--device", "80"], ["80GB"]),
        ([MODEL, "--device", "0GB"], ["above 0"]),
        ([MODEL, "--device", "9" * 30 + "GB"], ["not a size"]),
        ([MODEL, "--headroom", "95%"], ["90%"]),
        ([MODEL, "--headroom", "many"], ["--headroom", "share"]),
        ([MODEL, "--context", "0"], ["--context"]),
        ([MODEL, "--concurrency", "-1"], ["--concurrency"]),
        ([MODEL, "--draft", "mtp"], ["MTP", "draft model"]),
        ([MODEL, "--draft-quant", "int4"], ["--draft"]),
        ([MODEL, "--kv", "fp3"], ["fp3", "fp8"]),
    ],
)
def test_usage_errors(refused: Refused, words: list[str], expected: list[str]) -> None:
    refused(["capacity", *words], expected)


def test_json_holds_everything(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    words = ["--quant", "int4,fp8,int4", "--device", "24GiB", "--json", "--html", str(page)]
    body = json.loads(printed(capsys, MODEL, "--context", "65536", *words))
    assert body["device"] == 24 * 2**30
    assert body["parameters"] == 8_030_261_248
    assert [print_["name"] for print_ in body["footprints"]] == ["int4", "fp8"]
    four = body["footprints"][0]
    assert four["needed"] == sum(four["components"].values())
    assert four["components"]["kv_cache"] == 65_536 * 2 * 32 * 8 * 128 * 2
    assert four["fits"] is True
    assert all(note["text"] for note in body["notes"])
    assert body["paths"]["html"] == str(page)
    assert "Llama-3.1-8B" in page.read_text("utf-8")


def test_what_is_asked_for_by_default(capsys: pytest.CaptureFixture[str]) -> None:
    plain = json.loads(printed(capsys, MODEL, "--json"))
    assert [print_["name"] for print_ in plain["footprints"]] == ["bf16", "fp8", "int4"]
    quantized = json.loads(printed(capsys, str(PUBLISHED / "gpt-oss-20b"), "--json"))
    names = [print_["name"] for print_ in quantized["footprints"]]
    assert names == ["stored", "bf16", "fp8", "int4"]
    assert quantized["footprints"][0]["checkpoint"] == 13_761_264_768
    assert quantized["headroom"] == 0.15


def test_flags_change_what_they_say(capsys: pytest.CaptureFixture[str]) -> None:
    def components(*words: str) -> dict[str, int]:
        body = json.loads(printed(capsys, MOE, "--quant", "int4", "--json", *words))
        found: dict[str, int] = body["footprints"][0]["components"]
        return found

    plain, narrow = components(), components("--kv", "fp8")
    # The states of linear layers stay as they are.
    assert plain["kv_cache"] - narrow["kv_cache"] == 8192 * 20_480 // 2
    assert components("--reserve", "3GB")["reserve"] == 3 * 10**9
    assert components("--prefill-tokens", "100")["activations"] < plain["activations"]
    assert components("--draft", "mtp")["draft_weights"] > 10**9
    draft = components("--draft", MODEL, "--draft-quant", "int4")["draft_weights"]
    assert draft < components("--draft", MODEL)["draft_weights"] / 2


def test_chinese(capsys: pytest.CaptureFixture[str]) -> None:
    told = printed(capsys, MODEL, "--lang", "zh", "--device", "80GB")
    assert "放得下" in told
    assert "Fits" not in told
