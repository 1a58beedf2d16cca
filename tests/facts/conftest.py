import pytest

from georecall.errors import TableError
from georecall.facts.readers import read_with_report


@pytest.fixture
def read(tmp_path):
    """Write a text or bytes to a file and read it as a table."""

    def write_and_read(content, name="facts.csv", **options):
        (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
        return read_with_report(tmp_path / name, **options)

    return write_and_read


@pytest.fixture
def refusal(read):
    """The message with which a file is refused."""

    def message(content, name="facts.csv", **options):
        with pytest.raises(TableError) as caught:
            read(content, name, **options)
        assert name in str(caught.value)
        return str(caught.value)

    return message
