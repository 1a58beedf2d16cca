"""The command line, and the code that generates pages."""

import sys

from command_line import cli
from documents import ROOT

sys.path.insert(0, str(ROOT / "docs" / "generate"))  # as mkdocs does for its hooks

__all__ = ["cli"]
