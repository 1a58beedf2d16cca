"""Which package imports which, drawn: below the diagonal only, if the layers are kept."""

from packages import imports, packages

CELL = 26
LEFT, TOP = 104, 60
"""Room for the names of the rows, and for that of the first column."""


def layers_svg() -> str:
    """A square for each pair of packages, in the order of the layers; a row imports the columns with a dot."""
    names = packages()
    width, height = LEFT + CELL * len(names) + TOP, TOP + CELL * len(names)
    drawn = "".join(_row(number, name, names) for number, name in enumerate(names))
    return (
        f'<svg class="layers" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="Which package imports which">{drawn}</svg>'
    )


def _row(number: int, name: str, names: list[str]) -> str:
    x, y = LEFT + CELL * number, TOP + CELL * number
    middle = y + CELL / 2
    used = imports(name)
    cells = "".join(
        f'<rect x="{LEFT + CELL * column}" y="{y}" width="{CELL}" height="{CELL}"/>'
        + (
            f'<circle cx="{LEFT + CELL * (column + 0.5)}" cy="{middle}" r="6">'
            f"<title>{name} imports {other}</title></circle>"
            if other in used
            else ""
        )
        for column, other in enumerate(names[: number + 1])
    )
    return (
        f'<text x="{LEFT - 8}" y="{middle}" text-anchor="end">{name}</text>{cells}'
        f'<text transform="translate({x + CELL / 2} {y - 6}) rotate(-45)">{name}</text>'
    )
