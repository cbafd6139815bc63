"""What was given as a flag wins over what files say, whatever else is given."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalkit.cli.options import names, read_config
from evalkit.errors import ConfigError


def test_flags_win_over_files(tmp_path: Path) -> None:
    config = tmp_path / "c.yaml"
    config.write_text("seed: 1\nlimit: 9\npolicy: {alpha: 0.01}", encoding="utf-8")
    policy = tmp_path / "p.yaml"
    policy.write_text("alpha: 0.02\nmargins: {accuracy: 3, hallucination: 4}", encoding="utf-8")
    read = read_config(config, ["seed=2"], {"limit": 5, "epochs": None, "tasks": ()}, policy, 1.5)
    assert (read.seed, read.limit, read.epochs) == (2, 5, 1)
    assert read.policy.alpha == 0.02
    assert (read.policy.margins.accuracy, read.policy.margins.hallucination) == (1.5, 4.0)
    assert read_config(config, [], {}).policy.alpha == 0.01
    assert read_config(None, [], {}, margin=3).policy.margins.accuracy == 3.0


def test_a_faulty_margin_names_its_key() -> None:
    with pytest.raises(ConfigError, match=r"policy\.margins\.accuracy"):
        read_config(None, [], {}, margin=0)


def test_names_are_split_at_commas() -> None:
    assert names(("facts, math", "code")) == ("facts", "math", "code")
