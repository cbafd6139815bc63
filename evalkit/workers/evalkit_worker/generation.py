"""What shapes, records and ends each row of a batch, in an order of our own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from evalkit_worker.batches import Fields
from transformers import LogitsProcessor, StoppingCriteria
from transformers.generation.logits_process import (
    MinPLogitsWarper,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

# A character takes at most so many tokens, of a byte each.
_BYTES = 4


class RowPenalties(LogitsProcessor):  # type: ignore[misc, unused-ignore]
    """Each row's own penalties, as vLLM defines them.

    Repetition counts the prompt too, presence and frequency what was written alone.
    """

    def __init__(self, fields: Sequence[Fields], prompts: Sequence[Sequence[int]], begin: int):
        """Take each row's penalties and prompt; answers begin at a column."""
        self._fields = fields
        self._prompts = [torch.tensor(sorted(set(prompt))) for prompt in prompts]
        self._begin = begin

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Return the logits with the penalties applied."""
        for row, fields in enumerate(self._fields):
            written, counts = torch.unique(input_ids[row, self._begin :], return_counts=True)
            if fields.repetition_penalty != 1.0:
                seen = torch.cat([self._prompts[row].to(written), written]).unique()
                told = scores[row, seen]
                factor = fields.repetition_penalty
                scores[row, seen] = torch.where(told > 0, told / factor, told * factor)
            if fields.presence_penalty or fields.frequency_penalty:
                scores[row, written] -= fields.presence_penalty + fields.frequency_penalty * counts
        return scores


def filters(fields: Fields) -> list[LogitsProcessor]:
    """Return what shapes the distribution of sampled answers, in vLLM's order."""
    if fields.temperature <= 0:
        return []
    made: list[LogitsProcessor] = [TemperatureLogitsWarper(fields.temperature)]
    if fields.min_p > 0:
        made.append(MinPLogitsWarper(fields.min_p))
    if fields.top_k > 0:
        made.append(TopKLogitsWarper(fields.top_k))
    if fields.top_p < 1:
        made.append(TopPLogitsWarper(fields.top_p))
    return made


class Recorder(LogitsProcessor):  # type: ignore[misc, unused-ignore]
    """Keeps the log probabilities of what was chosen and of the likeliest tokens."""

    def __init__(self, most: int) -> None:
        """Keep so many at each place."""
        self._most = max(1, most)
        self._top: list[tuple[Any, Any]] = []
        self._chosen: list[Any] = []
        self._last: Any = None

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Take note of the model's own numbers: it comes before every other processor."""
        self.choose(input_ids[:, -1])
        self._last = torch.log_softmax(scores.float(), dim=-1)
        values, tokens = torch.topk(self._last, self._most, dim=-1)
        self._top.append((tokens.tolist(), values.tolist()))
        return scores

    def choose(self, tokens: Any) -> None:
        """Take note of what became of the last step."""
        if self._last is not None:
            self._chosen.append(self._last.gather(1, tokens[:, None])[:, 0].tolist())

    def places(
        self, row: int, tokens: Sequence[int], wanted: int
    ) -> Iterator[tuple[int, float, list[tuple[int, float]]]]:
        """Yield each token of a row, its log probability, and the likeliest ones."""
        for token, (best, values), chosen in zip(tokens, self._top, self._chosen, strict=False):
            yield token, chosen[row], list(zip(best[row], values[row], strict=True))[:wanted]


class RowEnds(StoppingCriteria):  # type: ignore[misc, unused-ignore]
    """Ends each row at an end of text, at its own bound, or at one of its stop strings."""

    def __init__(
        self, fields: Sequence[Fields], begin: int, ends: frozenset[int], tokenizer: Any
    ) -> None:
        """Take each row's bounds; answers begin at a column."""
        self._fields = fields
        self._begin = begin
        self._ends = ends
        self._tokenizer = tokenizer
        self._done = [False] * len(fields)

    def __call__(self, input_ids: Any, scores: Any, **kwargs: Any) -> Any:
        """Say which rows are done."""
        written = input_ids.shape[1] - self._begin
        last = input_ids[:, -1].tolist()
        for row, fields in enumerate(self._fields):
            self._done[row] = (
                self._done[row]
                or written >= fields.max_tokens
                or (last[row] in self._ends and not fields.ignore_eos)
                or self._stops(input_ids[row, self._begin :], fields.stop)
            )
        return torch.tensor(self._done, device=input_ids.device)

    def _stops(self, written: Any, stops: tuple[str, ...]) -> bool:
        if not stops:
            return False
        tail = _BYTES * max(map(len, stops)) + _BYTES
        said = self._tokenizer.decode(written[-tail:].tolist(), skip_special_tokens=True)
        return any(stop in said for stop in stops)
