"""Before anything is paid for: does it answer, what is it, and are two comparable?

`probe` looks at one endpoint and returns a record; `compare_records` looks at two records.
"""

from evalkit.collect.preflight.findings import (
    Canary,
    Finding,
    FindingStatus,
    ProbeOptions,
    ProbeRecord,
    read_record,
)
from evalkit.collect.preflight.identities import compare_identities
from evalkit.collect.preflight.probe import compare_records, first_answer, probe

__all__ = [
    "Canary",
    "Finding",
    "FindingStatus",
    "ProbeOptions",
    "ProbeRecord",
    "compare_identities",
    "compare_records",
    "first_answer",
    "probe",
    "read_record",
]
