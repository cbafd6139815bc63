"""The line of releases: order, breaks, what changed, what to go back to, what is left out."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evalkit.errors import StoreError
from evalkit.fingerprint import digest
from evalkit.releases import HistoryBreak, ReleaseHistory
from evalkit.results import Comparison
from evalkit.stages.history import read_history
from evalkit.stages.writing import write_comparison
from tests.report.fixtures import comparison


def at(day: int, *states: str, **changes: Any) -> Comparison:
    made = comparison(*states, **({"names": changes.pop("names")} if "names" in changes else {}))
    return replace(made, created=f"2026-11-{day:02d}T10:00:00+00:00", **changes)


def written(root: Path, **contents: Comparison) -> ReleaseHistory:
    for place, content in contents.items():
        folder = root.joinpath(*place.split("__"))
        folder.mkdir(parents=True)
        write_comparison(folder, content)
    return read_history(root)


def with_weights(content: Comparison, **identity: Any) -> Comparison:
    (arm,) = content.candidates
    return replace(content, candidates=(replace(arm, identity={**arm.identity, **identity}),))


def test_points_stand_in_the_order_of_their_dates_at_any_depth(tmp_path: Path) -> None:
    history = written(
        tmp_path,
        c=at(3, "HOLD"),
        a=with_weights(at(1, "SHIP"), weights_hash="other", engine_version="b6000"),
        deep__er__b=at(2, "SHIP"),
    )
    assert [point.folder for point in history.points] == ["a", "deep/er/b", "c"]
    assert [point.state for point in history.points] == ["SHIP", "SHIP", "HOLD"]
    changes = [point.change for point in history.points]
    assert changes[0] is None
    assert (changes[1].weights, changes[1].engine) == ("new", "new")  # type: ignore[union-attr]
    assert (changes[2].weights, changes[2].engine) == ("same", "same")  # type: ignore[union-attr]
    assert [point.rollback for point in history.points] == [
        None,
        (str(tmp_path / "a"), "q4"),
        (str(tmp_path / "deep/er/b"), "q4"),
    ]
    assert history.rollback is not None
    assert history.rollback.folder == str(tmp_path / "deep/er/b")
    assert history.rollback.sampling["temperature"] == 0.0
    assert history.exit_code == 3
    estimate = history.points[2].metrics[0].difference
    assert estimate == at(3, "HOLD").results[0].pooled.accuracy.difference


def test_the_newest_itself_is_nothing_to_go_back_to(tmp_path: Path) -> None:
    history = written(tmp_path, a=at(1, "HOLD"), b=at(2, "SHIP"))
    assert history.rollback is None
    assert history.newest_ship is not None


def test_time_zones_do_not_disturb_the_order(tmp_path: Path) -> None:
    east = replace(comparison("SHIP"), created="2026-11-02T01:00:00+08:00")
    history = written(tmp_path, a=at(1, "HOLD"), b=east)
    assert [point.folder for point in history.points] == ["a", "b"]
    late = replace(comparison("SHIP"), created="2026-11-01T17:30:00+08:00")
    write_comparison(tmp_path / "b", late)
    assert [point.folder for point in read_history(tmp_path).points] == ["b", "a"]


def test_what_was_asked_or_decided_otherwise_breaks_the_line(tmp_path: Path) -> None:
    first = at(1, "SHIP")
    facts, *rest = first.tasksets
    other = {"alpha": 0.025, "margins": {"accuracy": 2.0, "degenerate": 0.5}}
    second = at(
        2,
        "SHIP",
        tasksets=(replace(facts, n=80, scorer_version=2), replace(rest[0], content_hash="9" * 32)),
        policy=other,
        policy_hash=digest(other),
        sampling={**first.sampling, "temperature": 0.7},
        settings={**first.settings, "seed": 3},
    )
    history = written(tmp_path, a=first, b=second, c=replace(second, created="2026-11-09"))
    assert history.points[0].breaks == history.points[2].breaks == ()
    assert set(history.points[1].breaks) == {
        HistoryBreak("prompts", "facts", "40", "80"),
        HistoryBreak("prompts", "instructions", "01234567", "99999999"),
        HistoryBreak("prompts", "longform", "40", "–"),
        HistoryBreak("prompts", "math", "40", "–"),
        HistoryBreak("settings", "seed", "0", "3"),
        HistoryBreak("sampling", "temperature", "0.0", "0.7"),
        HistoryBreak("policy", "alpha", "0.05", "0.025"),
        HistoryBreak("scorer", "facts", "facts v1", "facts v2"),
    }


def test_several_candidates_are_several_lines(tmp_path: Path) -> None:
    history = written(tmp_path, a=at(1, "SHIP", "HOLD"), b=at(2, "HOLD", names=["rtn4"]))
    assert [(p.folder, p.candidate, p.series) for p in history.points] == [
        ("a", "q4", "q4"),
        ("a", "rtn4", "rtn4"),
        ("b", "rtn4", "rtn4"),
    ]
    assert history.points[2].change is not None


def test_one_candidate_each_is_one_line_whatever_its_name(tmp_path: Path) -> None:
    history = written(tmp_path, a=at(1, "SHIP", names=["v1"]), b=at(2, "SHIP", names=["v2"]))
    assert len({point.series for point in history.points}) == 1
    assert history.points[1].change is not None


def test_what_cannot_be_read_is_left_out_with_its_reason(tmp_path: Path) -> None:
    for name, text in (
        ("cut", '{"schema_version": 1'),
        ("newer", '{"schema_version": 99}'),
        ("other", '{"name": "package"}'),
        ("empty", ""),
        ("timeless", ""),
        ("hollow", ""),
        ("before-time", ""),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "comparison.json").write_text(text, encoding="utf-8")
    write_comparison(tmp_path / "timeless", replace(comparison("SHIP"), created="yesterday"))
    early = replace(comparison("SHIP"), created="0001-01-01T00:00:00+08:00")
    write_comparison(tmp_path / "before-time", early)
    write_comparison(tmp_path / "hollow", replace(at(1, "SHIP"), results=()))
    # A link must not lead out of the folder, nor round and round.
    (tmp_path / "loop").symlink_to(tmp_path)
    # What lies among the answers of a comparison is none of its releases.
    (tmp_path / "good" / "runs" / "q8").mkdir(parents=True)
    write_comparison(tmp_path / "good" / "runs" / "q8", comparison("HOLD"))
    history = written(tmp_path, **{"ok__a": at(1, "SHIP")})
    write_comparison(tmp_path / "good", at(2, "SHIP"))
    history = read_history(tmp_path)
    assert [point.folder for point in history.points] == ["ok/a", "good"]
    reasons = {unread.folder: unread.reason for unread in history.unread}
    assert set(reasons) == {
        "cut", "newer", "other", "empty", "timeless", "hollow", "before-time",
    }  # fmt: skip
    assert "newer evalkit" in reasons["newer"]
    assert "does not say when it was made" in reasons["timeless"]


def test_a_comparison_folder_itself_is_a_history_of_one(tmp_path: Path) -> None:
    write_comparison(tmp_path / "v1", comparison("SHIP"))
    (point,) = read_history(tmp_path / "v1").points
    assert point.folder == "v1"


@pytest.mark.parametrize("name", ["nowhere", "file", "empty"])
def test_a_folder_without_any_is_told(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text(json.dumps({}), encoding="utf-8")
    (tmp_path / "empty").mkdir()
    with pytest.raises(StoreError, match=name):
        read_history(tmp_path / name)
