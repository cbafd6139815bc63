"""What the preflight hands on: plain data that a run's header keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final, Literal

from evalkit.fingerprint import digest
from evalkit.types import Identity

FindingStatus = Literal["ok", "differs", "not_testable", "failed"]
Observation = Mapping[str, Any]
"""What one check saw of one endpoint; JSON can hold it."""

RECORD_VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        code: Stable name, e.g. `answer`, `context_length`.
        status: `differs` is said of two endpoints, `failed` of one.
        message: One sentence. Where it is not testable: why.
        evidence: The requests and what came back.
        blocks: Whether a bad one makes a comparison invalid unless the user allows it.
    """

    code: str
    status: FindingStatus
    message: str
    evidence: Mapping[str, Any] = field(default_factory=dict)
    blocks: bool = True

    @property
    def bad(self) -> bool:
        """Whether it makes a comparison invalid."""
        return self.blocks and self.status in ("differs", "failed")


@dataclass(frozen=True, slots=True)
class ProbeOptions:
    """What a run will ask, so that the preflight looks where it matters.

    Attributes:
        temperature: Of the run.
        context: Tokens of its longest prompt and answer together; `None`: not known.
        longest: Tokens that an answer of it may have.
        streams: Whether answers are streamed.
    """

    temperature: float = 0.0
    context: int | None = None
    longest: int | None = None
    streams: bool = False


@dataclass(frozen=True, slots=True)
class Cost:
    """What the preflight of one endpoint took.

    Attributes:
        requests: Answers asked for, refused ones included.
        pages: Pages read or posted to, at which nothing is generated.
        seconds: In all.
    """

    requests: int
    pages: int
    prompt_tokens: int
    completion_tokens: int
    seconds: float


@dataclass(frozen=True, slots=True)
class ProbeRecord:
    """What one endpoint is and how it answered.

    It is all that a comparison with another endpoint needs: the two are never up together.

    Attributes:
        name: Of the endpoint.
        identity: What it was found to be, canary answers included.
        findings: What was found of this endpoint alone.
        seen: By the name of the check.
        refused: Sampling fields that the server refuses: to be left out for all arms.
        claims: Names that say something of the weights: endpoint, label, model.
        canaries: How it answered fixed prompts, for asking again during the run.
        cost: What it took.
    """

    name: str
    identity: Identity
    findings: tuple[Finding, ...]
    seen: Mapping[str, Observation]
    refused: tuple[str, ...]
    claims: tuple[str, ...]
    canaries: tuple[Canary, ...]
    cost: Cost

    @property
    def bad(self) -> tuple[Finding, ...]:
        """The findings that make every comparison with it invalid."""
        return tuple(finding for finding in self.findings if finding.bad)

    def without_texts(self) -> ProbeRecord:
        """Return it with hashes for all that the endpoint said: two of them still compare."""
        return replace(
            self,
            findings=tuple(_wordless(finding) for finding in self.findings),
            seen={name: _hashed(seen) for name, seen in self.seen.items()},
            canaries=tuple(replace(one, text=digest(one.text)) for one in self.canaries),
        )

    def plain(self) -> dict[str, Any]:
        """Return it as JSON can hold it, without the identity, which a header has anyway."""
        data = asdict(self)
        del data["identity"]
        return {"version": RECORD_VERSION, **data}


@dataclass(frozen=True, slots=True)
class Canary:
    """A fixed prompt and its greedy answer.

    Attributes:
        stable: Whether the answer was the same each time it was asked in the preflight.
    """

    name: str
    text: str
    stable: bool


# What these hold is an endpoint's own words, also within lists.
_WORDS: Final = frozenset(
    (
        "text", "texts", "hot", "answer", "content", "before",
        "word", "error", "said", "reasoning", "token", "tokens",
        "finish_reason", "finish", "whole", "likeliest", "overridden", "tags",
    )
)  # fmt: skip
# Their messages quote nothing.
_WORDLESS: Final = frozenset(
    (
        "reach", "usage", "refused_fields", "quantization", "rendering", "repeats",
        "seed", "max_tokens", "unknown_model", "broken_body", "long_prompt", "logprobs",
        "bad_input",
    )
)  # fmt: skip


def _wordless(finding: Finding) -> Finding:
    if finding.code in _WORDLESS:
        return replace(finding, evidence={})
    message = f"The check '{finding.code}' ends with '{finding.status}'; its words are redacted."
    return replace(finding, message=message, evidence={})


def _hashed(value: Any, *, words: bool = False) -> Any:
    if isinstance(value, Mapping):
        return {key: _hashed(item, words=words or key in _WORDS) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_hashed(item, words=words) for item in value]
    return digest(value) if words and isinstance(value, str) else value


def read_record(data: Any, identity: Identity) -> ProbeRecord | None:
    """Read a record back from a header; `None` when there is none, or of another version."""
    if not isinstance(data, Mapping) or data.get("version") != RECORD_VERSION:
        return None
    try:
        return ProbeRecord(
            name=str(data["name"]),
            identity=identity,
            findings=tuple(Finding(**finding) for finding in data["findings"]),
            seen=dict(data["seen"]),
            refused=tuple(data["refused"]),
            claims=tuple(data["claims"]),
            canaries=tuple(Canary(**canary) for canary in data["canaries"]),
            cost=Cost(**data["cost"]),
        )
    except (KeyError, TypeError, ValueError):
        return None
