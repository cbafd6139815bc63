from __future__ import annotations

import errno
import itertools
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evalkit.collect.journal import RunFolder, open_run
from evalkit.collect.records import decode, encode
from evalkit.errors import RunLocked, StoreError
from evalkit.types import Completion
from tests.collect.builders import completion


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder.create_or_open(tmp_path / "run")


def fill(folder: RunFolder, *completions: Completion) -> bytes:
    with folder:
        for one in completions:
            folder.append(one)
    return folder.completions_path.read_bytes()


class TestRecords:
    @pytest.mark.parametrize(
        "record",
        [
            completion(text="é 中文 \U0001f600 \x00 \u2028 \r\n"),
            completion(text=None),
            completion(text=""),
            completion(error="ServerError"),
            replace(completion(), reasoning="hm"),
        ],
    )
    def test_round_trip(self, record: Completion) -> None:
        line = encode(record)
        assert line.count(b"\n") == 1
        assert line.endswith(b"\n")
        assert decode(line) == record

    def test_lone_surrogates_become_replacement_characters(self) -> None:
        record = completion(text="a\ud800b 中 \ude00")
        assert decode(encode(record)).text == "a�b 中 �"

    @given(st.text(st.characters(), max_size=30))
    def test_any_text_can_be_written(self, text: str) -> None:
        assert decode(encode(completion(text=text))).sample_id == "s-0"

    @pytest.mark.parametrize(
        "key", ["sample_id", "fingerprint", "epoch", "text", "usage", "attempts"]
    )
    @pytest.mark.parametrize("value", [b"[1]", b'{"a": 1}', b"1.5"])
    def test_a_field_of_another_type_is_no_record(self, key: str, value: bytes) -> None:
        data = json.loads(encode(completion()))
        line = json.dumps({**data, key: "HERE"}).encode().replace(b'"HERE"', value)
        with pytest.raises(StoreError):
            decode(line)

    @pytest.mark.parametrize("line", [b"", b"{}", b"[]", b"null", b'{"error": 1}', b"{"])
    def test_what_is_no_record(self, line: bytes) -> None:
        with pytest.raises(StoreError):
            decode(line)


class TestReading:
    def test_in_order_and_again(self, folder: RunFolder) -> None:
        written = [completion(number) for number in range(5)]
        fill(folder, *written)
        assert list(folder.completions()) == list(folder.records()) == written

    def test_an_empty_run(self, folder: RunFolder) -> None:
        assert list(folder.completions()) == []
        assert folder.answered() == set()

    def test_an_answer_wins_over_failures_and_the_last_failure_over_the_first(
        self, folder: RunFolder
    ) -> None:
        first, last = completion(0, error="Timeout"), completion(0, error="ServerError")
        answered = completion(1)
        late = completion(1, error="Timeout")
        fill(folder, first, completion(1, error="Timeout"), answered, late, last)
        assert list(folder.completions()) == [answered, last]
        assert folder.answered() == {"f-1"}
        assert len(list(folder.records())) == 5

    def test_a_reader_needs_no_lock_and_ignores_a_line_in_the_making(
        self, folder: RunFolder
    ) -> None:
        with folder:
            folder.append(completion(0))
            with folder.completions_path.open("ab") as file:
                file.write(b'{"sample_id": "half')
            assert list(RunFolder(folder.path).completions()) == [completion(0)]

    @pytest.mark.parametrize(
        ("bad", "kept"), [(0, None), (1, "line before it is"), (2, "2 lines before it are")]
    )
    def test_a_bad_line_is_named_and_what_to_do_about_it(
        self, folder: RunFolder, bad: int, kept: str | None
    ) -> None:
        data = fill(folder, completion(0), completion(1), completion(2))
        damaged = data.replace(f'"sample_id":"s-{bad}"'.encode(), b'"x":"s"')
        folder.completions_path.write_bytes(damaged)
        with pytest.raises(StoreError, match=f"line {bad + 1}") as caught:
            list(folder.completions())
        assert caught.value.hint is not None
        assert "--fresh" in caught.value.hint
        assert (kept or "Move the folder away") in caught.value.hint
        assert ("before it" in caught.value.hint) == (kept is not None)
        assert folder.completions_path.read_bytes() == damaged


class TestRepair:
    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
    @given(cut=st.integers(min_value=0))
    def test_cut_at_any_byte_recovers_all_whole_records(self, tmp_path: Path, cut: int) -> None:
        written = [completion(number, text="é\n" * number) for number in range(4)]
        data = b"".join(encode(one) for one in written)
        cut %= len(data) + 1
        whole = data[:cut].count(b"\n")
        folder = RunFolder.create_or_open(tmp_path / str(cut))
        folder.completions_path.write_bytes(data[:cut])
        with folder:
            assert folder.repaired == cut - (data[:cut].rfind(b"\n") + 1)
            folder.append(completion(9))
        assert list(folder.completions()) == [*written[:whole], completion(9)]

    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
    @given(data=st.data())
    def test_any_prefix_opens_and_yields_exactly_its_whole_lines(
        self, tmp_path: Path, data: st.DataObject
    ) -> None:
        texts = data.draw(st.lists(st.none() | st.text(max_size=12), max_size=5))
        written = [completion(number, text=text) for number, text in enumerate(texts)]
        lines = [encode(one) for one in written]
        cut = data.draw(st.integers(0, sum(map(len, lines))))
        ends = list(itertools.accumulate(map(len, lines)))
        whole = [decode(line) for line, end in zip(lines, ends, strict=True) if end <= cut]
        with tempfile.TemporaryDirectory(dir=tmp_path) as name:
            folder = RunFolder(Path(name))
            folder.completions_path.write_bytes(b"".join(lines)[:cut])
            assert list(folder.records()) == list(folder.completions()) == whole
            with folder:
                assert list(folder.records()) == whole
            assert folder.completions_path.read_bytes() == b"".join(lines[: len(whole)])

    def test_zeros_after_a_crash_of_the_machine(self, folder: RunFolder) -> None:
        data = fill(folder, completion(0), completion(1))
        folder.completions_path.write_bytes(data + bytes(5000) + b"\n" + bytes(7))
        with folder:
            assert folder.repaired == 5008
        assert folder.completions_path.read_bytes() == data

    def test_a_file_that_is_no_journal_is_not_touched(self, folder: RunFolder) -> None:
        folder.completions_path.write_bytes(b"my notes\nmore notes\n")
        with pytest.raises(StoreError, match=r"not a journal.*Move the folder"), folder:
            pass
        assert folder.completions_path.read_bytes() == b"my notes\nmore notes\n"

    def test_records_of_another_format_are_not_cut_off(self, folder: RunFolder) -> None:
        folder.completions_path.write_bytes(b'{"version": 99}\n')
        with folder:
            assert folder.repaired == 0


class TestLock:
    def test_a_second_writer_is_refused(self, folder: RunFolder) -> None:
        with folder:
            second = RunFolder.create_or_open(folder.path)
            with pytest.raises(RunLocked, match="run"), second:
                pass
            folder.append(completion(0))
        with second:
            second.append(completion(1))
        assert len(list(folder.completions())) == 2

    def test_another_process_is_refused(self, folder: RunFolder) -> None:
        program = (
            "import sys; from pathlib import Path\n"
            "from evalkit.collect.journal import RunFolder\n"
            "from evalkit.errors import RunLocked\n"
            "try:\n    RunFolder.create_or_open(Path(sys.argv[1])).__enter__()\n"
            "except RunLocked: sys.exit(7)\n"
        )
        command = [sys.executable, "-c", program, str(folder.path)]
        with folder:
            assert subprocess.run(command, timeout=30, check=False).returncode == 7
        assert subprocess.run(command, timeout=30, check=False).returncode == 0


class TestBatches:
    def test_records_of_a_batch_are_one_write(
        self, folder: RunFolder, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        written = [completion(number) for number in range(5)]
        real, sizes = os.pwrite, []

        def watched(fd: int, data: memoryview, offset: int) -> int:
            sizes.append(len(data))
            return real(fd, data, offset)

        with folder:
            monkeypatch.setattr(os, "pwrite", watched)
            folder.append(*written)
        assert sizes == [sum(len(encode(one)) for one in written)]
        assert list(folder.records()) == written

    def test_a_disk_that_fills_up_within_a_batch_keeps_its_whole_lines(
        self, folder: RunFolder, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        written = [completion(number) for number in range(5)]
        room = sum(len(encode(one)) for one in written[:3]) + 7
        real = os.pwrite

        def full(fd: int, data: memoryview, offset: int) -> int:
            if offset >= room:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return real(fd, data[: min(100, room - offset)], offset)

        with folder:
            monkeypatch.setattr(os, "pwrite", full)
            with pytest.raises(StoreError, match="No space left"):
                folder.append(*written)
        assert folder.completions_path.read_bytes() == b"".join(map(encode, written[:3]))


class TestFailingDisk:
    def test_a_full_disk_is_fatal_and_leaves_whole_lines(
        self, folder: RunFolder, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        real = os.pwrite

        def full(fd: int, data: memoryview, offset: int) -> int:
            if len(data) > 20:
                return real(fd, data[:20], offset)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        with folder:
            folder.append(completion(0))
            monkeypatch.setattr(os, "pwrite", full)
            with pytest.raises(StoreError, match="No space left"):
                folder.append(completion(1))
            monkeypatch.undo()
            with pytest.raises(StoreError, match="No space left"):
                folder.append(completion(1))
        assert folder.completions_path.read_bytes() == encode(completion(0))

    def test_a_device_without_space(self, folder: RunFolder) -> None:
        folder.completions_path.symlink_to("/dev/full")
        with pytest.raises(StoreError, match="No space left") as caught, folder:
            folder.append(completion(0))
        assert "Make room on that disk" in str(caught.value)

    def test_a_header_that_cannot_be_written_leaves_the_old_one(
        self, folder: RunFolder, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        folder.write_header({"a": 1})

        def fail(_fd: int) -> None:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

        monkeypatch.setattr(os, "fsync", fail)
        with pytest.raises(StoreError, match=r"header\.json"):
            folder.write_header({"a": 2})
        monkeypatch.undo()
        assert folder.read_header() == {"a": 1}
        assert [path.name for path in folder.path.iterdir()] == ["header.json"]

    def test_a_failed_sync_is_told(
        self, folder: RunFolder, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(_fd: int) -> None:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

        monkeypatch.setattr(os, "fsync", fail)
        with pytest.raises(StoreError, match="Input/output"), folder:
            folder.append(completion(0))


class TestFolder:
    def test_header(self, folder: RunFolder) -> None:
        assert folder.read_header() is None
        folder.write_header({"b": "中", "a": [1]})
        assert folder.read_header() == {"a": [1], "b": "中"}
        assert open_run(folder.path).read_header() == {"a": [1], "b": "中"}

    def test_what_is_no_run_folder(self, tmp_path: Path) -> None:
        with pytest.raises(StoreError, match="does not exist"):
            open_run(tmp_path / "nowhere")
        with pytest.raises(StoreError, match="not a run folder"):
            open_run(tmp_path)
        (tmp_path / "header.json").write_text("{broken", "utf-8")
        with pytest.raises(StoreError, match=r"header\.json"):
            open_run(tmp_path)
        (tmp_path / "header.json").write_text("[]", "utf-8")
        with pytest.raises(StoreError, match=r"header\.json"):
            open_run(tmp_path)

    @pytest.mark.parametrize(
        ("header", "words"),
        [(b"", "is empty"), (b"{broken", "cannot be read"), (None, "header.json is missing")],
    )
    def test_a_damaged_header_says_what_to_do(
        self, folder: RunFolder, header: bytes | None, words: str
    ) -> None:
        fill(folder, completion(0))
        if header is not None:
            (folder.path / "header.json").write_bytes(header)
        with pytest.raises(StoreError, match=words) as caught:
            open_run(folder.path)
        assert caught.value.hint is not None
        for word in ("completions.jsonl", "Move the folder away", "--fresh"):
            assert word in caught.value.hint

    def test_somebody_elses_folder_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "thesis.tex").write_text("x", "utf-8")
        with pytest.raises(StoreError, match="no run folder"):
            RunFolder.create_or_open(tmp_path)
        with pytest.raises(StoreError, match=r"thesis\.tex"):
            RunFolder.create_or_open(tmp_path / "thesis.tex")

    def test_discard(self, folder: RunFolder) -> None:
        fill(folder, completion(0))
        folder.write_header({"a": 1})
        (folder.path / "scores.jsonl").write_text("{}\n", "utf-8")
        with folder:
            folder.discard()
            folder.append(completion(1))
        assert list(folder.completions()) == [completion(1)]
        assert folder.read_header() is None
        assert not (folder.path / "scores.jsonl").exists()

    def test_writing_needs_the_lock(self, folder: RunFolder) -> None:
        with pytest.raises(RuntimeError, match="with"):
            folder.append(completion(0))
