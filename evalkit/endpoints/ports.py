"""Ports of this machine that a server can listen on."""

from __future__ import annotations

import errno
import socket

from evalkit.errors import UsageError

HOST = "127.0.0.1"


def free_port() -> int:
    """Return a port that nobody listens on at this moment."""
    with socket.socket() as listener:
        listener.bind((HOST, 0))
        port: int = listener.getsockname()[1]
        return port


def require_port(port: int, hint: str = "Choose another --port.") -> None:
    """Make sure that a port can be listened on.

    Raises:
        UsageError: When it cannot.
    """
    with socket.socket() as listener:
        # As servers do: a port that was left a moment ago is free.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, port))
        except OverflowError as error:
            raise UsageError(f"Port {port} is not a number from 0 to 65535.") from error
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise UsageError(f"Port {port} is in use.", hint=hint) from error
            raise UsageError(f"Port {port} cannot be used: {error.strerror}.") from error
