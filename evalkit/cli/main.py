"""The entry point: verbs, and what becomes of errors.

Only this module catches `EvalKitError`; what it does not know is a fault of ours, and the
only case that prints a traceback.
"""

from __future__ import annotations

import contextlib
import json
import logging
import sys
import traceback
from collections.abc import Sequence
from typing import NoReturn, TextIO, cast

import click

from evalkit import __version__
from evalkit.cli.alerts import alerts
from evalkit.cli.calibrate import calibrate
from evalkit.cli.capacity import capacity
from evalkit.cli.check import check
from evalkit.cli.compare import compare
from evalkit.cli.export import export
from evalkit.cli.gate import gate
from evalkit.cli.github import annotate_error
from evalkit.cli.golive import golive
from evalkit.cli.grade import grade
from evalkit.cli.init import init
from evalkit.cli.plan import plan
from evalkit.cli.probe import probe
from evalkit.cli.report import report
from evalkit.cli.run import run
from evalkit.cli.schema import schema
from evalkit.cli.score import score
from evalkit.cli.selftest import selftest
from evalkit.cli.soak import soak
from evalkit.cli.stats import stats
from evalkit.cli.streams import Output, open_missing_streams
from evalkit.cli.tasks import tasks
from evalkit.cli.view import view
from evalkit.errors import EvalKitError, ExitCode
from evalkit.garbage import rare_collections

_LONGEST = 4000
_EPILOG = """\b
Exit codes:
  0 ship · 1 internal error · 2 usage · 3 hold · 4 inconclusive · 5 invalid · 130 interrupted

\b
First steps:
  evalkit compare q8 q4                        the embedded model, 8 bit against 4 bit
  evalkit compare http://a:8000#m http://b:8000#m
  evalkit init                                 a commented configuration
"""


@click.group(
    context_settings={
        "help_option_names": ["-h", "--help"],
        "auto_envvar_prefix": "EVALKIT",
        "max_content_width": 100,
    },
    epilog=_EPILOG,
)
@click.version_option(__version__, prog_name="evalkit")
def cli() -> None:
    """May we ship the cheaper quantization?

    Asks the same prompts of two or more endpoints that serve one model, scores the answers,
    compares them pair by pair, and says which to ship, and why.
    """


VERBS = (
    compare,
    run,
    score,
    grade,
    calibrate,
    report,
    export,
    view,
    gate,
    check,
    tasks,
    init,
    schema,
    plan,
    capacity,
    probe,
    alerts,
    golive,
    soak,
    stats,
    selftest,
)
for verb in VERBS:
    cli.add_command(verb)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit.

    Args:
        arguments: Instead of the process's own.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    logging.getLogger("evalkit").addHandler(logging.NullHandler())
    open_missing_streams()
    stdout = sys.stdout
    sys.stdout = cast(TextIO, Output(stdout))
    try:
        with rare_collections():
            code = cli.main(args=words, prog_name="evalkit", standalone_mode=False)
        sys.stdout.flush()
    except EvalKitError as error:
        code = _fail(words, error.message, error.hint, error.exit_code)
    except click.ClickException as error:
        code = _usage(words, error)
    except (click.Abort, KeyboardInterrupt):
        code = _fail(words, "Interrupted.", None, ExitCode.INTERRUPTED)
    except Exception:  # noqa: BLE001 - the one place where an unknown fault ends
        traceback.print_exc()
        code = _fail(
            words,
            "This is a fault in evalkit.",
            "Please report it with the lines above.",
            ExitCode.INTERNAL,
        )
    # Python flushes once more at its end, and would turn what was told into exit code 120.
    sys.stdout = stdout
    sys.exit(code if isinstance(code, int) else ExitCode.OK)


def _usage(words: Sequence[str], error: click.ClickException) -> int:
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "evalkit"
    hint = f"See: {command} --help"
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        click.echo(error.format_message(), err=True)
        return ExitCode.USAGE
    return _fail(words, _sentence(error.format_message()), hint, ExitCode.USAGE)


def _sentence(message: str) -> str:
    message = message.strip()
    return message if message.endswith((".", "?", "!", ")")) else f"{message}."


def _fail(words: Sequence[str], message: str, hint: str | None, code: int) -> int:
    """Print one clear error: for people on stderr, for programs on stdout with `--json`.

    A name in it may come from a file that anybody wrote: it must not act on a terminal.
    """
    from evalkit.report.text import one_line

    message = one_line(message, _LONGEST)
    hint = hint and one_line(hint, _LONGEST)
    told = f"{message} {hint}" if hint else message
    click.echo(f"error: {told}", err=True)
    annotate_error(told)
    if "--json" in words:
        body = {"error": {"message": message, "hint": hint, "exit_code": code}}
        with contextlib.suppress(EvalKitError):
            click.echo(json.dumps(body, ensure_ascii=False))
    return code
