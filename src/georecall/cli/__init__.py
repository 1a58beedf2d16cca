"""The command line: parsing and printing only, one file a command."""

import io
import sys

from georecall.cli.app import app
from georecall.cli.output import print_error
from georecall.cli.signals import ended_by_signals
from georecall.errors import GeorecallError


def main() -> None:
    """Run the command line; bad input, or a file that cannot be used, prints one error and exits with code 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a name may have letters that the terminal has not
    try:
        with ended_by_signals():
            app(windows_expand_args=False)  # a path with * or ~ in it is a name
    except (GeorecallError, OSError) as error:
        print_error(str(error))
        sys.exit(2)
