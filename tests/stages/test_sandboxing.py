"""Programs are asked for only where they can be run, and the report says how they ran."""

from __future__ import annotations

import pytest

from evalkit.config import Config
from evalkit.errors import SandboxError, UsageError
from evalkit.report.words import Words
from evalkit.scoring.sandbox import layers
from evalkit.stages.plan import Plan, make_plan
from evalkit.stages.sandboxing import require_sandbox, sandbox_layers, sandbox_threat


@pytest.fixture
def programs() -> Plan:
    return make_plan(Config(tasks=("code",), allow_code=True, limit=2))


def test_programs_without_a_sandbox_are_refused(
    programs: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVALKIT_SANDBOX", "docker")
    with pytest.raises(UsageError, match="EVALKIT_SANDBOX is 'docker'"):
        require_sandbox(programs)
    assert sandbox_layers(programs) == ()
    assert sandbox_threat(programs) == ()


def test_without_programs_no_sandbox_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALKIT_SANDBOX", "docker")
    plan = make_plan(Config(tasks=("math",), limit=2))
    require_sandbox(plan)
    assert sandbox_layers(plan) == ()


@pytest.mark.parametrize("level", ["bubblewrap", "unshare", "limits"])
def test_a_weaker_sandbox_is_a_threat(
    level: str, programs: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVALKIT_SANDBOX", level)
    try:
        found = layers()
    except SandboxError as error:
        pytest.skip(f"not possible here: {error}")
    assert sandbox_layers(programs) == found
    threats = sandbox_threat(programs)
    assert [t.values["sandbox"] for t in threats] == ([] if level == "bubblewrap" else [level])
    for threat in threats:
        assert threat.level == "warn"
        for language in ("en", "zh"):
            assert level in Words(language)("threat.SANDBOX", **threat.values)
