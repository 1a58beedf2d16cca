"""Whatever becomes of a file that we wrote, reading it gives the right answer or one error of one line."""

from pathlib import Path
from random import Random

import pytest
from damage import copied, damages
from folders import KINDS, Kind

from georecall.errors import GeorecallError

TRIES, CONTENTS = 2, 8
"""How often chance damages the bytes of each file, and its content."""
LONGEST = 1000


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A folder of every kind, made once."""
    root = tmp_path_factory.mktemp("whole")
    for name, kind in KINDS.items():
        kind.make(root / name)
    return {name: root / name for name in KINDS}


def files(folder: Path) -> list[str]:
    return sorted(
        str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file() and path.stat().st_size
    )


def judge(kind: Kind, folder: Path, expected: object, told: str) -> None:
    """One error of one line, or the right answer; any answer where no hash tells what is right."""
    said = "an answer"
    try:
        right = kind.read(folder) == expected or not kind.hashed
    except (GeorecallError, OSError) as error:  # the two that the command line words in one line
        right, said = True, str(error)
    except Exception as error:
        raise AssertionError(told) from error
    assert right, told
    assert "\n" not in said, told
    assert 0 < len(said) < LONGEST, told


@pytest.mark.parametrize("name", KINDS)
def test_a_damaged_file_gives_the_right_answer_or_one_line(name, whole, tmp_path):
    kind, chance = KINDS[name], Random(name)  # noqa: S311 - no secrets
    expected = kind.read(copied(whole[name], tmp_path / name))
    for file in files(whole[name]):
        for what, damage in damages(file, tries=TRIES, contents=CONTENTS):
            folder = copied(whole[name], tmp_path / name)
            damage(folder, file, chance)
            judge(kind, folder, expected, f"{file}: {what}")


@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if kind.reseal])
@pytest.mark.parametrize("file", ["certificate.json", "model.safetensors", "facts.parquet"])
def test_right_hashes_do_not_make_a_damaged_file_right(name, file, whole, tmp_path):
    kind, chance = KINDS[name], Random(name)  # noqa: S311 - no secrets
    expected = kind.read(whole[name])
    for what, damage in damages(file, tries=TRIES, contents=3 * CONTENTS):
        if (file, what) != ("model.safetensors", "flipped"):  # other numbers: `verify` finds them
            folder = copied(whole[name], tmp_path / name)
            damage(folder, file, chance)
            kind.reseal(folder)
            judge(kind, folder, expected, f"{file}: {what}")
