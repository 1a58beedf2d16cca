"""The stock architectures that a memory can be compiled to: one is a file here, of the architecture's name."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from georecall.errors import GeorecallError
from georecall.models.architecture import Architecture

DEFAULT = "opt"


class _Found(Mapping[str, Architecture[Any]]):
    """The architectures by name, the default first; a file is imported when its architecture is taken."""

    def __iter__(self) -> Iterator[str]:
        found = (module.name for module in iter_modules(__path__))
        return iter(sorted(found, key=lambda name: (name != DEFAULT, name)))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __getitem__(self, name: str) -> Architecture[Any]:
        if name not in list(self):
            raise KeyError(name)
        for value in vars(import_module(f"{__name__}.{name}")).values():
            if isinstance(value, Architecture) and value.name == name:
                return value
        raise GeorecallError(f"{__name__}.{name}: expected an Architecture with the name {name!r}")


ARCHITECTURES: Mapping[str, Architecture[Any]] = _Found()
