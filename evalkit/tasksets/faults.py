"""Samples of public sets whose label or check is known to be wrong (`label_faults.yaml`).

A fault is known by the hash of its question, not by a row's number: copies of a set come in
other orders, and another split has other questions under the same numbers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import yaml

from evalkit.fingerprint import digest
from evalkit.types import Sample, Taskset

LABEL_FAULT = "label_fault"
_FILE = Path(__file__).with_name("label_faults.yaml")
_LENGTH = 16


@dataclass(frozen=True, slots=True)
class Fault:
    """One sample that should not count.

    Attributes:
        id: Of the sample in the set as it is published; for readers.
        kind: `wrong` label, `ambiguous` question, or a `check` that decides wrongly.
        says: What is wrong.
        source: Who found it.
    """

    id: str
    kind: str
    says: str
    source: str


def question_hash(question: str) -> str:
    """Hash a question as it is asked, whatever blanks a copy has (SHA-256, 64 bits as hex)."""
    return hashlib.sha256(" ".join(question.split()).encode()).hexdigest()[:_LENGTH]


@cache
def known_faults() -> Mapping[str, Mapping[str, Fault]]:
    """Return the faults of each public format, by the hash of the question."""
    loaded = yaml.safe_load(_FILE.read_text("utf-8"))
    return {
        form: {
            entry["question"]: Fault(
                str(entry["id"]), entry["kind"], entry["says"], entry["source"]
            )
            for entry in entries
        }
        for form, entries in loaded.items()
    }


def faults_of(form: str) -> Mapping[str, Fault]:
    """Return what is known to be wrong in sets of a format, by the hash of the question."""
    return known_faults().get(form, {})


def without_faulty(taskset: Taskset) -> Taskset:
    """Return the taskset without the samples that are known to be wrong: another content."""
    if not taskset.faults:
        return taskset
    kept: tuple[Sample, ...] = tuple(s for s in taskset.samples if s.id not in taskset.faults)
    told = ["without", sorted(taskset.faults)]
    return replace(
        taskset,
        samples=kept,
        content_hash=digest([taskset.content_hash, *told]),
        seal=digest([taskset.seal, *told]),
        faults={},
        left_out={**taskset.left_out, LABEL_FAULT: len(taskset.samples) - len(kept)},
    )
