"""The published JSON Schemas: as the types are, and true of what is written."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import orjson
import pytest
from jsonschema import Draft202012Validator

from evalkit.cli import main
from evalkit.report.schema import schema_of
from evalkit.report.store import dump_comparison
from evalkit.report.summary import summary
from evalkit.report.view import build_view
from evalkit.results import SCHEMA_VERSION
from tests.report.fixtures import STATES, comparison
from tests.report.hostile import HOSTILE

FOLDER = Path(__file__).parent.parent.parent / "docs" / "schemas"


@pytest.mark.parametrize(
    "name", ["comparison", "summary", "gate", "performance", "capacity", "soak"]
)
def test_committed_schemas_are_those_of_the_types(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["schema", name])
    assert ended.value.code == 0
    printed = capsys.readouterr().out
    committed = (FOLDER / f"{name}.schema.json").read_text(encoding="utf-8")
    assert printed == committed, "run: make schemas"
    Draft202012Validator.check_schema(json.loads(printed))


def test_what_evalkit_reads_has_schemas_too(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("config", "policy"):
        with pytest.raises(SystemExit):
            main(["schema", name])
        made = json.loads(capsys.readouterr().out)
        Draft202012Validator.check_schema(made)
        assert made["additionalProperties"] is False


@pytest.mark.parametrize("state", STATES)
def test_comparisons_and_their_summaries_are_valid(state: str) -> None:
    hostile = "".join(HOSTILE)[:5000]
    for made in (comparison(state), comparison("SHIP", state, hostile=hostile)):
        jsonschema.validate(orjson.loads(dump_comparison(made)), schema_of("comparison"))
        for lang in ("en", "zh"):
            body = json.loads(json.dumps(summary(build_view(made, lang))))
            jsonschema.validate(body, schema_of("summary"))


@pytest.mark.parametrize(
    "change",
    [
        {"schema_version": SCHEMA_VERSION + 1},
        {"exit_code": "0"},
        {"results": None},
        {"policy_hash": 3},
    ],
)
def test_what_is_no_comparison_is_not_valid(change: dict[str, object]) -> None:
    body = orjson.loads(dump_comparison(comparison("HOLD")))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**body, **change}, schema_of("comparison"))
