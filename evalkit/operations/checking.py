"""Whether rules are ones that Prometheus takes: promtool where it is installed, and always ours."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import yaml

from evalkit.errors import UsageError
from evalkit.operations.promql import PromqlError, check_promql, is_duration
from evalkit.report.text import one_line

_KEYS = {"alert", "expr", "for", "labels", "annotations"}
_SECONDS = 30


def check_document(text: str) -> None:
    """Check structure and expressions of a file of rules.

    Raises:
        UsageError: When Prometheus would not take it.
    """
    try:
        body = yaml.safe_load(text)
        groups = body["groups"]
        if set(body) != {"groups"} or not isinstance(groups, list):
            raise PromqlError("it holds something else than groups")
        for group in groups:
            if set(group) != {"name", "rules"} or not str(group["name"]):
                raise PromqlError("a group has a name and rules, and nothing else")
            for rule in group["rules"]:
                _check_rule(rule)
    except (PromqlError, yaml.YAMLError, KeyError, TypeError) as error:
        raise UsageError(f"These are no rules for Prometheus: {one_line(str(error))}.") from None


def promtool_check(text: str) -> bool:
    """Let promtool check the rules; `False` where it is not installed.

    Raises:
        UsageError: When it refuses them.
    """
    program = shutil.which("promtool")
    if program is None:
        return False
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rules.yaml"
        file.write_text(text, encoding="utf-8")
        try:
            done = subprocess.run(
                [program, "check", "rules", str(file)],
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return False
    if done.returncode:
        raise UsageError(f"promtool refuses these rules: {one_line(done.stderr or done.stdout)}")
    return True


def _check_rule(rule: dict[str, Any]) -> None:
    if set(rule) != _KEYS:
        raise PromqlError(f"a rule has {', '.join(sorted(_KEYS))}")
    name = str(rule["alert"])
    if not is_duration(str(rule["for"])):
        raise PromqlError(f"{name} holds for '{rule['for']}', which is no duration")
    for key in ("labels", "annotations"):
        if not all(isinstance(t, str) for pair in rule[key].items() for t in pair):
            raise PromqlError(f"{key} of {name} are not all texts")
    try:
        check_promql(rule["expr"])
    except PromqlError as error:
        raise PromqlError(f"{name}: {error}") from None
