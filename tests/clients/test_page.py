"""Every example of docs/clients.md prints what the page says; the export has its own tests."""

import pytest
from page import EXPORTING, USING


@pytest.mark.parametrize("example", [example for example in USING if example != EXPORTING])
def test_an_example_prints_what_the_page_says(example, families, client, capsys):
    for name in example.imports:
        client(name)
    example.run(families)
    assert capsys.readouterr().out == example.printed
