"""The program: what goes wrong in it is printed as one error, and its exit code says of what kind it is."""

import io
import sys

from typer.exceptions import TyperException

from georecall.cli.app import app
from georecall.cli.output import err, print_error, print_line
from georecall.cli.signals import ended_by_signals
from georecall.errors import GeorecallError
from georecall.escaping import traceback_lines

A_FAULT_OF_OURS, BAD_INPUT = 1, 2


def main() -> None:
    """Run the command line; bad input, or a file that cannot be used, prints one error and exits with code 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a name may have letters that the terminal has not
    sys.exit(_run())


def _run() -> int:
    """The exit code."""
    try:
        with ended_by_signals():
            # a path with * or ~ in it is a name
            return app(prog_name="georecall", standalone_mode=False, windows_expand_args=False) or 0
    except TyperException as error:
        _print_usage_error(error)
        return error.exit_code
    except (GeorecallError, OSError, UnicodeEncodeError) as error:
        print_error(str(error))
        return BAD_INPUT
    except Exception:
        for line in traceback_lines():
            print_line(line, to=err)
        return A_FAULT_OF_OURS


def _print_usage_error(error: TyperException) -> None:
    """The usage of the command, and what is wrong; nothing where the help was asked for and is printed."""
    context = getattr(error, "ctx", None)
    if type(error).__name__ == "NoArgsIsHelpError":
        return
    if context is not None:
        for line in context.get_usage().splitlines():
            print_line(line, to=err)
    print_error(error.format_message())
