"""One page of reference for each package: its modules, which mkdocstrings reads without importing them."""

import ast
from functools import cache
from pathlib import Path

SOURCES = Path(__file__).parents[2] / "src" / "georecall"
WITHOUT_PAGE = {"cli"}
"""Its reference is that of the command line."""


def packages() -> list[str]:
    """The names of all packages, from the lowest layer to the highest."""
    return sorted(_names(), key=lambda name: (layer(name), name))


def page(package: str) -> str:
    """The reference of a package, as Markdown."""
    folder = SOURCES / package
    modules = [path.stem for path in sorted(folder.glob("*.py")) if _has_public_names(path)]
    top = f"# `georecall.{package}`\n\n{_docstring(folder / '__init__.py')}\n"
    return "\n".join([top, _shorthand(package), *(f"::: georecall.{package}.{name}\n" for name in modules)])


def imports(package: str) -> set[str]:
    """The packages that the modules of a package import, itself left out."""
    return {name for name in _imported(package) if name in _names()} - {package}


@cache
def layer(package: str) -> int:
    """0 if a package imports no other, else one more than the highest that it imports.

    Raises:
        RecursionError: packages import one another.
    """
    return 1 + max((layer(name) for name in imports(package)), default=-1)


@cache
def _names() -> frozenset[str]:
    return frozenset(path.parent.name for path in SOURCES.glob("*/*.py"))


def _imported(package: str) -> set[str]:
    names = set()
    for path in (SOURCES / package).glob("*.py"):
        for node in ast.walk(_tree(path)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("georecall."):
                names.add((node.module or "").split(".")[1])
    return names


def _has_public_names(path: Path) -> bool:
    nodes = _tree(path).body
    return path.stem != "__init__" and any(
        isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_") for node in nodes
    )


def _shorthand(package: str) -> str:
    """The names that can be imported from the package itself, those with a description as links."""
    names = [
        _link(node.module or "", alias.name)
        for node in _tree(SOURCES / package / "__init__.py").body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    ]
    return f"From `georecall.{package}` itself: {', '.join(names)}.\n" if names else ""


def _link(module: str, name: str) -> str:
    path = SOURCES.joinpath(*module.split(".")[1:]).with_suffix(".py")
    described = any(getattr(node, "name", None) == name for node in _tree(path).body)
    return f"[`{name}`][{module}.{name}]" if described else f"`{name}`"


def _docstring(path: Path) -> str:
    return ast.get_docstring(_tree(path)) or ""


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))
