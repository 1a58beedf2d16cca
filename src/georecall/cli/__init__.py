"""The command line: parsing and printing only, one file a command."""

import sys

from georecall.cli.app import app
from georecall.cli.output import print_error
from georecall.errors import GeorecallError


def main() -> None:
    """Run the command line; bad input, or a file that cannot be used, prints one error and exits with code 2."""
    try:
        app()
    except (GeorecallError, OSError) as error:
        print_error(str(error))
        sys.exit(2)
    except KeyboardInterrupt:
        print_error("interrupted; nothing was left half-written")
        sys.exit(130)
