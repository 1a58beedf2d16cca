"""Which kind of folder is to be explored."""

from pathlib import Path

from georecall.errors import FolderError, GeorecallError
from georecall.explorer.memories import memory_view
from georecall.explorer.runs import run_view
from georecall.explorer.view import View
from georecall.memory.folder import CERTIFICATE
from georecall.memory.memory import FactMemory
from georecall.training.runs import CONFIG, load_run

TOKENIZER = "tokenizer.json"
"""A folder that has one was a memory, even if its certificate is lost."""


def open_view(folder: Path, *, member: int | None = None) -> View:
    """A memory, or one member of a trained run, after the checks of `FactMemory.load` and `load_run`.

    Raises:
        FolderError: the folder is neither, or a file in it is missing or altered.
        AnalysisError: as `run_view`.
        GeorecallError: a member is asked for of a memory.
    """
    title = folder.resolve().name
    if not folder.is_dir():
        found = "a file" if folder.exists() else "nothing"
        raise FolderError(f"{folder}: expected the folder of a memory or of a trained run, found {found}")
    if (folder / CERTIFICATE).exists() or (folder / TOKENIZER).exists():
        if member is not None:
            raise GeorecallError(f"{folder}: is a memory, which has no members: --member cannot be given")
        return memory_view(FactMemory.load(folder), title=title, folder=str(folder))
    if (folder / CONFIG).exists():
        return run_view(load_run(folder), title=title, member=member or 0)
    raise FolderError(
        f"{folder}: expected the folder of a memory or of a trained run, found neither {CERTIFICATE} nor {CONFIG}"
    )
