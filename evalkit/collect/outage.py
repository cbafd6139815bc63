"""Telling an endpoint that is down from prompts that nothing answers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from evalkit.endpoints.base import Answers
from evalkit.errors import ConnectError, EndpointError
from evalkit.types import Completion, CompletionError, Message, Sampling

PLAIN_QUESTION = (Message("user", "What is the capital of France? Answer with one word."),)
"""What any model can answer: a reply to it is a sign of life."""
_BRIEF = Sampling(max_tokens=8)
# So many requests, each tried up to the end one at a time and with pauses between, take minutes.
_REFUSED_ALONE = 3
# The same in tries: many workers in turn would use up those of one request only after hours.
_TRIES_ALONE = 15
_HINT = "What was answered is kept; the same command goes on from there."


class Vitals:
    """Signs of life of one endpoint, shared by the workers of one run."""

    def __init__(self, endpoint: Answers, give_up_after: int, on_alive: Callable[[], None]) -> None:
        self._endpoint = endpoint
        self._on_alive = on_alive
        self._give_up_after = give_up_after
        self._heard = False
        self._failed_in_a_row = self._refused_alone = self._tries_alone = 0
        self._asking = asyncio.Lock()

    def answered(self) -> None:
        """Take note of an answer."""
        self._heard = True
        self._failed_in_a_row = self._refused_alone = self._tries_alone = 0

    def erred(self, error: EndpointError, *, alone: bool) -> bool:
        """Take note of a try that failed: an error with a status is a sign of life too.

        Args:
            error: Of the try.
            alone: As for `failed`.

        Returns:
            Whether more tries make sense; not after many in a row that were refused alone.
        """
        self._heard = self._heard or error.status is not None
        self._tries_alone += alone
        return self._tries_alone < _TRIES_ALONE

    def failed(self, error: EndpointError, *, alone: bool) -> None:
        """Take note of a request that failed for good.

        One that was refused is an answer; only tries used up are a sign of an outage.

        Args:
            error: Of its last try.
            alone: Whether the endpoint was given one request at a time, with pauses.
        """
        self._failed_in_a_row = self._failed_in_a_row + 1 if error.retryable else 0
        self._refused_alone += alone

    def doubtful(self, last: CompletionError) -> bool:
        """Whether to ask: after many failures, one alone, or one while nothing was ever heard."""
        return self._refused_alone > 0 or self._hopeless(last)

    def _hopeless(self, last: CompletionError) -> bool:
        many = self._failed_in_a_row >= self._give_up_after
        return self._unheard(last) or many or self._refused_alone >= _REFUSED_ALONE

    async def make_sure(self, last: Completion, *, kept: bool) -> None:
        """Ask a plain question, if there is doubt after a failed request.

        An answer shows that the failed prompts are to blame, and `on_alive` is told.

        Args:
            last: The request.
            kept: Whether there are answers from before, which the message then says.

        Raises:
            EndpointError: When the endpoint does not answer that either.
        """
        if last.error is None or not self.doubtful(last.error):
            return
        async with self._asking:
            if not self.doubtful(last.error):
                return
            try:
                await self._endpoint.send(PLAIN_QUESTION, _BRIEF)
            except EndpointError as error:
                if not self._hopeless(last.error):
                    return
                raise self._outage(last.error, error, kept) from error
            self.answered()
            self._on_alive()

    def _outage(self, last: CompletionError, error: EndpointError, kept: bool) -> EndpointError:
        if self._unheard(last):
            hint = error.hint or (_HINT if kept else None)
            return type(error)(error.message, hint=hint, status=error.status)
        return EndpointError(
            f"Endpoint '{self._endpoint.name}' seems to be down: {self._failed_in_a_row} "
            f"requests in a row failed. The last error: {last.message}",
            hint=_HINT,
            status=last.status,
        )

    def _unheard(self, last: CompletionError) -> bool:
        return not self._heard and last.kind == ConnectError.__name__
