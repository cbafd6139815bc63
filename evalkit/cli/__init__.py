"""The command line: one file a verb, results to stdout, all else to stderr."""

from evalkit.cli.main import main

__all__ = ["main"]
