"""What must be refused is refused: exit code 2, one error that says what and where, nothing written."""

from pathlib import Path

import pytest
from refused import REFUSED, WRONG_USAGE, Refused


def snapshot(folder: Path) -> dict[Path, bytes | None]:
    return {path: path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


def prepare(case: Refused, folder: Path) -> None:
    for name, content in case.files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        if content is None:
            path.unlink()
        else:
            path.write_bytes(content.encode() if isinstance(content, str) else content)


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
@pytest.mark.usefixtures("family")
def test_a_bad_input_is_refused_with_its_place_and_nothing_is_written(cli, tmp_path, case):
    prepare(case, tmp_path)
    before = snapshot(tmp_path)
    result = cli(*case.command)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("error: ")
    lines = result.err.splitlines()
    assert len(lines) == (1 if case.places == 1 else 1 + case.places)
    assert result.err.endswith("\n")
    position = 0
    for part in case.says:
        assert part in result.err[position:]
        position = result.err.index(part, position) + len(part)
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize(("command", "named"), WRONG_USAGE.values(), ids=WRONG_USAGE)
@pytest.mark.usefixtures("family")
def test_wrong_usage_is_refused_and_nothing_is_written(cli, tmp_path, command, named):
    before = snapshot(tmp_path)
    result = cli(*command)
    assert (result.code, result.out) == (2, "")
    assert named in result.err
    assert "Usage: " in result.err
    assert snapshot(tmp_path) == before


def test_a_table_with_many_faults_lists_ten_and_counts_them(cli):
    rows = "".join(f"x{number},wife,\n" for number in range(25))
    Path("facts.csv").write_text("subject,relation,object\n" + rows)
    lines = cli("compile", "facts.csv", "-o", "memory").err.splitlines()
    assert len(lines) == 12
    assert lines[1] == "  line 2, column 'object': subject 'x0', relation 'wife'"
    assert lines[-1] == "  … 25 in all"


def test_a_file_that_cannot_be_read_is_one_error(cli, monkeypatch):
    def deny(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", "facts.csv")

    Path("facts.csv").write_text("subject,relation,object\na,b,c\n")
    monkeypatch.setattr(Path, "open", deny)
    result = cli("compile", "facts.csv", "-o", "memory")
    assert (result.code, result.err) == (2, "error: [Errno 13] Permission denied: 'facts.csv'\n")
