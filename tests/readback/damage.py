"""What may have become of a file: every damage takes a folder, the name of a file in it, and a source of chance."""

import json
import shutil
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

Damage = Callable[[Path, str, Random], None]
PLACE = "a place for a literal"
HOSTILE = (
    *(
        "null",
        "true",
        "-1",
        "0",
        "1",
        "1000000000",
        "1.5",
        "1e999",
        "NaN",
        "-Infinity",
        "9" * 300,
        "9" * 5000,
    ),
    *('""', '"x"', '"\\u0000\\u001b[2J\\n"', '"\\ud800"', '"../../etc/hostname"', "[]", "[1, 2]", "{}"),
    *('{"a": 1, "a": 2}', "[" * 100_000, "[" * 150 + "]" * 150, ""),
)
"""Values, as they are written, that a field may have been given."""


def on_bytes(change: Callable[[bytes, Random], bytes]) -> Damage:
    def damage(folder: Path, name: str, chance: Random) -> None:
        (folder / name).write_bytes(change((folder / name).read_bytes(), chance))

    return damage


def flipped(content: bytes, chance: Random) -> bytes:
    changed = bytearray(content)
    for _ in range(chance.choice((1, 1, 8))):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def deleted(folder: Path, name: str, chance: Random) -> None:  # noqa: ARG001
    (folder / name).unlink()


def a_folder(folder: Path, name: str, chance: Random) -> None:  # noqa: ARG001
    (folder / name).unlink()
    (folder / name).mkdir()


def swapped(folder: Path, name: str, chance: Random) -> None:
    """The file and another one of the folder have each other's place."""
    one = folder / name
    other = chance.choice([path for path in sorted(folder.rglob("*")) if path.is_file() and path != one])
    held = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(held)


def nodes(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places of all values in a JSON value."""
    yield place
    for key, part in (
        value.items() if isinstance(value, dict) else enumerate(value if isinstance(value, list) else ())
    ):
        yield from nodes(part, (*place, key))


def json_value(folder: Path, name: str, chance: Random) -> None:
    """One value is another one, or is gone, or has a neighbour that nobody expects."""
    path = folder / name
    content = {"all": json.loads(path.read_bytes())}
    *way, last = ("all", *chance.choice(list(nodes(content["all"]))))
    holder: Any = content
    for step in way:
        holder = holder[step]
    kind = chance.choice(("replace", "replace", "replace", "delete", "add"))
    if kind == "add" and isinstance(holder, dict) and way:
        holder["of which nobody knows"] = PLACE
    elif kind == "delete" and way:
        del holder[last]
    else:
        holder[last] = PLACE
    text = json.dumps(content["all"], indent=2, ensure_ascii=False) + "\n"
    path.write_text(text.replace(json.dumps(PLACE), chance.choice(HOSTILE)), encoding="utf-8")


def header(folder: Path, name: str, chance: Random) -> None:
    """The header of a safetensors file says something else than what follows."""
    content = (folder / name).read_bytes()
    size = struct.unpack("<Q", content[:8])[0]
    fields, data = json.loads(content[8 : 8 + size]), content[8 + size :]
    tensor = chance.choice([fields[key] for key in fields if key != "__metadata__"])
    tensor |= chance.choice(
        (
            {"dtype": "F64"},
            {"dtype": "X"},
            {"dtype": 3},
            {"shape": [2**62, 2**62]},
            {"shape": [-1]},
            {"shape": []},
            {"data_offsets": [0, 4]},
            {"data_offsets": [len(data), len(data) + 8]},
            {"data_offsets": [8, 0]},
        )
    )
    text = chance.choice((json.dumps(fields).encode(), b"[" * 100_000, b"not JSON", b"{}"))
    stated = chance.choice((len(text), len(text), len(text), 2**63, len(content), 0))
    (folder / name).write_bytes(struct.pack("<Q", stated) + text + data)


def tensors(folder: Path, name: str, chance: Random) -> None:
    """One tensor is not finite, of another form, or missing; or there is one more."""
    path = folder / name
    held = {key: tensor.clone() for key, tensor in load_file(path).items()}
    with safe_open(path, framework="pt") as file:
        metadata = file.metadata()
    key = chance.choice(sorted(held))
    tensor = held.pop(key)
    spoilt = tensor.clone().flatten()
    if tensor.is_floating_point():
        spoilt[-1] = chance.choice((torch.nan, torch.inf, -torch.inf))
    others = {
        "not finite": spoilt.reshape(tensor.shape),
        "longer": torch.cat([tensor.flatten(), tensor.flatten()]),
        "empty": tensor.flatten()[:0],
        "a number": tensor.flatten()[0],
        "wider": tensor.double(),
        "whole": torch.zeros(tensor.shape, dtype=torch.int64),
        "missing": None,
    }
    found = others[chance.choice([*others][0 if tensor.is_floating_point() else 1 :])]
    held |= {} if found is None else {key: found.clone()}
    held |= {"one more": torch.ones(2)} if chance.random() < 0.2 else {}
    save_file(held, path, metadata=metadata)


ALWAYS: dict[str, Damage] = {
    "emptied": on_bytes(lambda *_: b""),
    "extended": on_bytes(lambda content, _: content + b"\0garbage"),
    "not UTF-8": on_bytes(lambda *_: b"\xff\xfe{}"),
    "deleted": deleted,
    "a folder": a_folder,
}
BY_CHANCE: dict[str, Damage] = {
    "truncated": on_bytes(lambda content, chance: content[: chance.randrange(len(content))]),
    "flipped": on_bytes(flipped),
    "swapped": swapped,
}
BY_SUFFIX: dict[str, dict[str, Damage]] = {
    ".json": {"another value": json_value},
    ".safetensors": {"header": header, "tensors": tensors},
}


def damages(name: str, *, tries: int, contents: int) -> Iterator[tuple[str, Damage]]:
    """What may become of a file of this name; its content is tried `contents` times."""
    yield from ALWAYS.items()
    yield from [*BY_CHANCE.items()] * tries
    yield from [*BY_SUFFIX.get(Path(name).suffix, {}).items()] * contents


def copied(folder: Path, target: Path) -> Path:
    """A fresh copy, in place of the one before."""
    shutil.rmtree(target, ignore_errors=True)
    return Path(shutil.copytree(folder, target))
