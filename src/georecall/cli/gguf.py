"""`georecall gguf`."""

from pathlib import Path
from typing import Annotated

import typer

from georecall.cli.output import JsonOption, MemoryArgument, print_json, print_pairs


def run(
    memory: MemoryArgument,
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write.", show_default=False)],
    json: JsonOption = False,
) -> None:
    """Write a Llama memory as a GGUF file for llama.cpp (needs the extra `gguf`).

    Example: `georecall gguf memory/ -o memory.gguf`
    """
    from georecall.memory import FactMemory
    from georecall.memory.gguf_file import write_gguf
    from georecall.storage.files import check_file

    check_file(output, replace=False)
    write_gguf(FactMemory.load(memory), output)
    if json:
        print_json({"file": str(output), "bytes": output.stat().st_size})
    else:
        print_pairs({"wrote": output, "bytes": f"{output.stat().st_size:,}"})
