"""The page that `evalkit view` serves, made anew each time it is asked for."""

from __future__ import annotations

import signal
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Lock, Thread

from evalkit.errors import UsageError
from evalkit.report.explorer_block import explorer_block
from evalkit.report.html import page_parts
from evalkit.report.words import Words
from evalkit.stages.embedding import Embedding, embedded_pairs
from evalkit.stages.rejudging import Evidence, load_evidence
from evalkit.stages.reviewing import completed_mark, reviewed
from evalkit.stages.stored import load_sound
from evalkit.stages.viewing import Viewed, ViewServer
from evalkit.stages.writing import view_of


def open_server(folder: Path, port: int, *, lang: str, embedding: Embedding) -> ViewServer:
    """Read a comparison with its runs, and listen.

    Raises:
        StoreError: When the folder or its runs cannot be read.
        UsageError: When the port cannot be had.
    """
    evidence = load_evidence(folder, load_sound(folder))
    page = _Page(folder, evidence, lang, embedding)
    viewed = Viewed(folder, page.made, partial(completed_mark, evidence))
    try:
        return ViewServer(viewed, port)
    except OSError as error:
        raise UsageError(
            f"Port {port} cannot be had: {error.strerror}.", hint="Leave --port out for a free one."
        ) from None


def serve(server: ViewServer) -> None:
    """Serve until Ctrl-C or SIGTERM."""
    stop = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1})
    waiting = Lock()
    waiting.acquire()
    for number in stop:
        signal.signal(number, lambda *_: waiting.release() if waiting.locked() else None)
    try:
        with server:
            thread.start()
            waiting.acquire()
            server.shutdown()
            thread.join()
    finally:
        for number, handler in stop.items():
            signal.signal(number, handler)


class _Page:
    """The report as it stands; two readers at once are served one after the other."""

    def __init__(self, folder: Path, evidence: Evidence, lang: str, embedding: Embedding) -> None:
        self._folder, self._evidence = folder, evidence
        self._words, self._embedding = Words(lang), embedding
        self._lock = Lock()

    def made(self) -> bytes:
        """Return the page."""
        with self._lock:
            comparison = reviewed(self._folder, self._evidence)
            words = self._words
            embedded = embedded_pairs(self._folder, comparison, words, self._embedding)
            view = replace(
                view_of(self._folder, comparison, words.lang),
                explorer=explorer_block(words, embedded),
            )
            return b"".join(page_parts(view, embedded, words.group("marking.")))
