"""The examples of docs/clients.md, as written there."""

import contextlib
import re
import runpy
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from documents import ROOT, blocks, with_outputs

IMPORTED = re.compile(r"^(?:import|from) (\w+)", re.MULTILINE)


@dataclass(frozen=True)
class Example:
    """Code of the page, the section it stands in, and what it prints."""

    section: str
    code: str
    printed: str

    @property
    def imports(self) -> list[str]:
        """The modules it imports."""
        return IMPORTED.findall(self.code)

    def run(self, folder: Path, **replaced: str) -> dict[str, Any]:
        """The names it defines, run in a folder from a file, as nnsight reads the source of what it traces.

        `family="x"` stands for running it with the memory "x" in place of the memory "family".
        """
        code = self.code
        for name, other in replaced.items():
            code = code.replace(f'"{name}"', f'"{other}"')
        with tempfile.NamedTemporaryFile("w", dir=folder, suffix=".py", encoding="utf-8") as file:
            file.write(code)
            file.flush()
            with contextlib.chdir(folder):
                return runpy.run_path(file.name)


def examples() -> list[Example]:
    """All examples in order; the first compiles what the others use."""
    return [
        Example(code.section, code.text, output.text)
        for code, output in with_outputs(blocks(ROOT / "docs" / "clients.md"))
        if code.language == "python"
    ]


COMPILING, *USING = examples()
EXPORTING = next(example for example in USING if example.section == "ONNX Runtime")
