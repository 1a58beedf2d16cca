"""`georecall info`."""

from georecall.cli.output import JsonOption, MemoryArgument, certified, contents, print_json, print_pairs


def run(memory: MemoryArgument, json: JsonOption = False) -> None:
    """Show the size of a memory, its bits a fact against the bound, and its certified margin.

    Example: `georecall info memory/`
    """
    from georecall.memory import FactMemory

    loaded = FactMemory.open(memory)
    info = loaded.info()
    if json:
        print_json(info.to_dict())
        return
    print_pairs(
        {
            **contents(loaded),
            "attributes": f"{info.attributes:,}",
            "hops": f"up to {info.hops}",
            "architecture": info.architecture
            + ("" if info.rotation is None else f", rotated (seed {info.rotation})"),
            "d": f"{info.dim}, with {info.relations} blocks of {info.code_length} symbols",
            "width": info.width,
            "parameters": f"{info.parameters:,}",
            "bits a fact": f"{info.bits_per_fact:.2f}, bound {info.bound_bits_per_fact:.2f}",
            "dtype": info.dtype,
            **certified(info),
        }
    )
