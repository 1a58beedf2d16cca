"""The command line: parsing and printing only, one file a command."""

from georecall.cli.entry import main

__all__ = ["main"]
