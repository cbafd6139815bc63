from __future__ import annotations

import socket
import subprocess
import sys

import pytest

from evalkit.endpoints.ports import require_port
from evalkit.errors import ExitCode, UsageError


def test_a_port_in_use_is_said_at_once() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        command = [sys.executable, "-m", "evalkit.endpoints.serve", "q8", "--port", str(port)]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == ExitCode.USAGE
    assert ended.stderr == f"Port {port} is in use. Choose another --port.\n"
    require_port(port)


def test_a_port_that_is_none() -> None:
    with pytest.raises(UsageError, match="65535"):
        require_port(99999)


def test_any_port() -> None:
    require_port(0)
