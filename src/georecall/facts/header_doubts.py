"""Whether the first line of a file is what it seems to be: the names of the columns of one table.

Only CSV and TSV files leave that open. A user who names a column, or asks for a form, has settled it.
"""

import numpy as np
from jaxtyping import Bool

from georecall.errors import TableError
from georecall.facts.checks import CodedFacts, listed, refuse
from georecall.facts.separated_text import SEPARATORS, WITHOUT_HEADER, other_separator
from georecall.facts.tabular_files import TabularFile

ABSENT = -2

_NO_NAME = ("#", "%", "//", ";", "{", "[", "<")
"""What comments, and files of other formats, begin with."""


def refuse_other_formats(file: TabularFile) -> None:
    """Refuse a first line that is a comment, of another format, or separated by other characters than assumed."""
    first = file.header[0]
    if first.startswith(_NO_NAME):
        raise TableError(
            f"{file.path}, header: expected the names of the columns, got {first!r:.60} "
            "(a comment? if it is a name, name the columns)"
        )
    other = file.separator and other_separator(file.path, file.separator)
    if other:
        assumed = SEPARATORS[file.separator or ""]
        raise TableError(
            f"{file.path}: expected fields separated by {assumed}, as the name of the file says; "
            f"they seem to be separated by {SEPARATORS[other]}"
        )


def refuse_repeated_header(facts: CodedFacts) -> None:
    """Refuse facts that consist of the names of their columns: a second header, or a first that was denied."""
    origin = facts.origin
    if origin.relation is None:
        repeats = _in_column(facts, "subject", origin.subject) & _under_their_own_name(facts)
    else:
        columns = {"subject": origin.subject, "relation": origin.relation, "object": origin.object}
        repeats = np.logical_and.reduce([_in_column(facts, kind, name) for kind, name in columns.items()])
    found = np.flatnonzero(repeats).tolist()
    if found:
        places = (f"{origin.unit} {facts.numbers[fact]}" for fact in found)
        refuse(origin.source, "expected facts, got the names of the columns", places)


def refuse_facts_as_header(facts: CodedFacts) -> None:
    """Refuse a wide table whose first line may be a fact, as it is where triples have no header.

    That shows where a name of a column stands in that column again; with three columns also where the first stands
    in the last or the other way round; and a .tsv file of three columns is how graphs are passed on.
    """
    columns = [facts.origin.subject, *facts.names["relation"]]
    doubtful = _in_column(facts, "subject", columns[0]) | _under_their_own_name(facts)
    if len(columns) == len(WITHOUT_HEADER):
        doubtful |= _in_column(facts, "object", columns[0]) | _in_column(facts, "subject", columns[-1])
        doubtful |= facts.origin.source.lower().endswith(".tsv")
    found = np.flatnonzero(doubtful)
    if found.size:
        raise TableError(
            f"{facts.origin.source}: is the first line, {listed(columns)}, a header? If it is, name the column of "
            f"subjects, by --subject {columns[0]!r}; if it is a subject, a relation and an object, say --no-header "
            f"({facts.origin.unit} {facts.numbers[found[0]]} reads like it)"
        )


def _in_column(facts: CodedFacts, kind: str, name: str) -> Bool[np.ndarray, " facts"]:
    """Whether each fact has this name as its subject, relation or object."""
    names = facts.names[kind]
    return getattr(facts, kind) == (names.index(name) if name in names else ABSENT)


def _under_their_own_name(facts: CodedFacts) -> Bool[np.ndarray, " facts"]:
    """Whether the object of each fact of a wide table is the name of its relation."""
    objects = {name: code for code, name in enumerate(facts.names["object"])}
    own = np.array([objects.get(name, ABSENT) for name in facts.names["relation"]])
    return own[facts.relation] == facts.object
