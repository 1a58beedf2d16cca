"""Every example of docs/clients.md runs and prints what the page says."""

import contextlib
import re
import runpy
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLE = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.DOTALL | re.MULTILINE)
COMPILING, *USING = EXAMPLE.findall((ROOT / "docs" / "clients.md").read_text(encoding="utf-8"))
IMPORTED = re.compile(r"^(?:import|from) (\w+)", re.MULTILINE)


def run(code: str, folder: Path) -> None:
    """Run an example from a file, as nnsight reads the source of what it traces."""
    file = folder / "example.py"
    file.write_text(code, encoding="utf-8")
    with contextlib.chdir(folder):
        runpy.run_path(str(file))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the examples run: the first has compiled the memories there."""
    folder = tmp_path_factory.mktemp("page")
    (folder / "examples").mkdir()
    shutil.copy(ROOT / "examples" / "family.csv", folder / "examples")
    run(COMPILING[0], folder)
    return folder


@pytest.mark.parametrize(("code", "printed"), USING, ids=range(1, len(USING) + 1))
def test_an_example_prints_what_the_page_says(code, printed, folder, client, capsys):
    for name in IMPORTED.findall(code):
        client(name)
    if "torch.onnx" in code:
        client("onnxscript")
    capsys.readouterr()
    run(code, folder)
    assert capsys.readouterr().out == printed
