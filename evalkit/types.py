"""What crosses the borders on the way from a taskset to a score.

Everything here is plain, frozen data. A module that makes one of these knows how;
a module that reads one needs nothing else. `None` always means "not known" or
"not there", never zero and never an empty string.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

Language = Literal["en", "zh"]
Role = Literal["system", "user", "assistant", "continuation"]
# A text whose probability after the prompt is asked, in place of an answer.
CONTINUATION: Role = "continuation"

# The epoch of what the baseline is asked a second time (A/A): never part of a pair.
REPEAT_EPOCH = -1


class Family(StrEnum):
    """What a taskset measures."""

    FACTS = "facts"
    INSTRUCTIONS = "instructions"
    CODE = "code"
    LONGFORM = "longform"
    MATH = "math"


class Outcome(StrEnum):
    """The three ways to answer: C, I and N of Wei et al. 2024 (SimpleQA)."""

    CORRECT = "correct"
    INCORRECT = "incorrect"
    ABSTAINED = "abstained"


class Flag(StrEnum):
    """What else was seen in a completion, beside its outcome.

    `EXTRACTORS_DISAGREE` says that two ways to find the final answer found different ones;
    it changes no outcome.
    """

    HALLUCINATED = "hallucinated"
    TRUNCATED = "truncated"
    EMPTY = "empty"
    LOOP = "loop"
    GARBLED = "garbled"
    WRONG_LANGUAGE = "wrong_language"
    BAD_FORMAT = "bad_format"
    REFUSED = "refused"
    EXTRACTORS_DISAGREE = "extractors_disagree"


class ScoreStatus(StrEnum):
    """Whether a completion has a score.

    `MISSING` means that no answer ever came (infrastructure, judge): missing data.
    `UNSCORED` means that an answer came and the scorer found nothing in it to score.
    `ERROR` means that the scorer itself failed: missing data too, and a fault to report.
    """

    SCORED = "scored"
    UNSCORED = "unscored"
    MISSING = "missing"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a prompt."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class Sample:
    """One prompt with its target.

    Attributes:
        id: Unique and stable in its taskset; pairs are joined on it.
        taskset: Name of the taskset.
        family: What it measures.
        language: Language of the prompt, and of the answer that is expected.
        category: A finer cut within the family, for slices.
        messages: The rendered prompt, system message included.
        target: What the scorer needs to know; its shape belongs to the scorer.
        length_bucket: `short` (under 500 characters), `medium` (under 4,000) or `long`.
        cluster: Samples that share it are not independent (same passage, same entity).
        metadata: Anything else, for slices and for readers.
        repeated: Whether an earlier sample of the taskset has the same prompt: it is asked
            all the same, and its answer is its own.
    """

    id: str
    taskset: str
    family: Family
    language: Language
    category: str
    messages: tuple[Message, ...]
    target: Mapping[str, Any]
    length_bucket: str = "short"
    cluster: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    repeated: bool = False

    @property
    def unit(self) -> str | tuple[Message, ...]:
        """What samples of a taskset share that are not independent: a cluster, or the prompt.

        The repeats of a sample are of one unit, though each is sampled with its own seed.
        """
        return self.cluster or self.messages


@dataclass(frozen=True, slots=True)
class Taskset:
    """A named bundle of samples of one family.

    Attributes:
        margin: Acceptable loss for this taskset's family, in points (0 to 100).
        measures_hallucination: Whether abstaining was possible, so that a wrong answer
            counts as an assertion of something false.
        content_hash: Hash of everything that shapes prompts and scores.
        seal: Hash of the same that is written nowhere: only who has the content has it.
        code: Whether scoring executes answers as programs.
        open_answers: Whether an answer may be right in words that no target holds.
        revision: Of the public data set that the samples were taken from.
        faults: Samples whose label or check is known to be wrong: why, by id.
        left_out: Samples of its source that are not asked: how many, by the reason's word.
        stop: Texts that end an answer, where the configuration names none.
    """

    name: str
    version: int
    family: Family
    description: str
    scorer: str
    max_tokens: int
    margin: float
    measures_hallucination: bool
    samples: tuple[Sample, ...]
    content_hash: str
    code: bool = False
    path: str | None = None
    seal: str = field(default="", repr=False)
    open_answers: bool = False
    revision: str | None = None
    faults: Mapping[str, str] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)
    stop: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sampling:
    """Every sampling field, sent explicitly because servers have hidden defaults.

    `top_k=-1` and `min_p=0` switch those filters off in vLLM and in llama.cpp alike. With
    `logprobs`, the answer's tokens are recorded with so many likeliest ones at each place.
    """

    max_tokens: int
    temperature: float = 0.0
    top_p: float = 1.0
    top_k: int = -1
    min_p: float = 0.0
    repetition_penalty: float = 1.0
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    seed: int = 0
    stop: tuple[str, ...] = ()
    logprobs: int | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """What an endpoint is asked.

    Attributes:
        prompt_hash: Hash of messages and sampling: equal for both arms of a pair.
        fingerprint: Hash of endpoint identity, messages, sampling and epoch: the key
            under which a completion may be reused.
    """

    sample_id: str
    taskset: str
    epoch: int
    messages: tuple[Message, ...]
    sampling: Sampling
    prompt_hash: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts as the server reports them."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class DraftCounts:
    """Tokens that speculative decoding drafted, and that the model then accepted.

    Attributes:
        drafts: Steps that checked a draft; `None` where only tokens are counted.
        positions: Drafts whose token at that place was accepted, the first place first;
            empty where they are not counted.
    """

    drafted: int
    accepted: int
    drafts: int | None = None
    positions: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds. `started` is Unix time; `first_token` is known only when streaming."""

    started: float
    total: float
    first_token: float | None = None


@dataclass(frozen=True, slots=True)
class Logprobs:
    """Natural logarithms of probabilities, token by token of an answer.

    Attributes:
        tokens: Their texts; `None` when they are redacted.
        logprobs: Of each token that was chosen; `None` where the server tells none.
        top: For each token the likeliest ones at its place, with text and logarithm, the
            likeliest first; `None` when the server tells none, or they are redacted.
    """

    tokens: tuple[str, ...] | None
    logprobs: tuple[float | None, ...]
    top: tuple[tuple[tuple[str, float], ...], ...] | None = None

    def without_tokens(self) -> Logprobs:
        """Return the numbers alone: tokens are the answer."""
        return Logprobs(tokens=None, logprobs=self.logprobs)


@dataclass(frozen=True, slots=True)
class Reply:
    """One successful answer of an endpoint to one attempt.

    `text` is `None` when the server sent null content; it is never made into `""`.

    Attributes:
        draft: What speculative decoding did for it, where the server says so.
    """

    text: str | None
    reasoning: str | None
    finish_reason: str | None
    usage: Usage
    timing: Timing
    model: str | None = None
    logprobs: Logprobs | None = None
    draft: DraftCounts | None = None


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try at a request. `error` is `None` for the try that worked."""

    seconds: float
    error: str | None = None
    status: int | None = None


@dataclass(frozen=True, slots=True)
class CompletionError:
    """Why a request has no answer. `kind` is one of the classes in `errors.py`."""

    kind: str
    message: str
    status: int | None = None


@dataclass(frozen=True, slots=True)
class Redacted:
    """What is kept of an answer whose texts are not.

    Hashes are keyed: equal for equal texts of one sample, and worth nothing to who has not
    the key (`collect.redaction`). Lengths are characters. `None` means that the server sent
    nothing there.

    Attributes:
        score: Made while the answer was in memory, since nothing can be scored later.
    """

    text: str | None
    text_length: int | None
    reasoning: str | None
    reasoning_length: int | None
    score: Score


@dataclass(frozen=True, slots=True)
class Completion:
    """One record of the journal: an answer, or the reason why there is none.

    Where `redacted` is set, `text` and `reasoning` are `None` whatever was answered.
    """

    sample_id: str
    taskset: str
    epoch: int
    prompt_hash: str
    fingerprint: str
    text: str | None
    reasoning: str | None
    finish_reason: str | None
    usage: Usage
    timing: Timing
    attempts: tuple[Attempt, ...]
    error: CompletionError | None = None
    logprobs: Logprobs | None = None
    redacted: Redacted | None = None


@dataclass(frozen=True, slots=True)
class Score:
    """What a scorer says of one completion.

    Attributes:
        value: In [0, 1]; `None` unless `status` is `SCORED`.
        answer: What was extracted from the completion.
        explanation: One line for a reader: why this outcome.
        reason: Why there is no value, e.g. `extraction`, `infra:timeout`.
    """

    sample_id: str
    taskset: str
    epoch: int
    fingerprint: str
    scorer: str
    scorer_version: int
    status: ScoreStatus
    outcome: Outcome | None = None
    value: float | None = None
    answer: str | None = None
    explanation: str = ""
    flags: tuple[Flag, ...] = ()
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Identity:
    """What an endpoint was found to be.

    `details` holds further evidence (parameter count, file hash, ...). Which fields decide
    whether an answer may be reused, `fingerprint.identity_key` says. Several servers behind
    one name stand in `base_url` in alphabetical order, with spaces between them.

    Attributes:
        quantization: As the server tells it, or else the `config.json` of its checkpoint.
        template_hash: Of the chat template's text.
        request_hash: Of what its requests say beyond messages and sampling.
        command_hash: Of the command that evalkit started the server with.
        tokenizer_hash: Of the token ids of one fixed text in several scripts.
        rendering_hash: Of the token ids that one fixed conversation becomes: template and
            tokenizer together, as far as the server shows them.
        canary_hash: Of what it answered to fixed prompts, greedily, in the preflight.
        hardware: What it runs on, if anybody says so.
        recording_hash: Of the log that is all that is known of it, where another tool asked it.
    """

    kind: str
    model: str
    engine: str | None = None
    engine_version: str | None = None
    quantization: str | None = None
    base_url: str | None = None
    context_length: int | None = None
    template_hash: str | None = None
    request_hash: str | None = None
    weights_hash: str | None = None
    weights_bytes: int | None = None
    command_hash: str | None = None
    tokenizer_hash: str | None = None
    rendering_hash: str | None = None
    canary_hash: str | None = None
    hardware: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    recording_hash: str | None = None
