"""Inputs that must be refused, and what their one error must say."""

import io
from collections.abc import Mapping
from dataclasses import dataclass, field

import polars as pl

HEADER = "subject,relation,object\n"


@dataclass(frozen=True, kw_only=True)
class Refused:
    """A command that must be refused in a folder that holds `family`, a memory, and `files`.

    `says` are parts of the error, in order. With several `places` at fault each has a line of its own. A file
    whose content is None is taken away.
    """

    command: tuple[str, ...]
    says: tuple[str, ...]
    files: Mapping[str, str | bytes | None] = field(default_factory=dict)
    places: int = 1


def table(content: str | bytes, *says: str, name: str = "facts.csv", places: int = 1) -> Refused:
    """A table that must not be compiled; the error begins with its name."""
    command = ("compile", name, "-o", "memory")
    return Refused(command=command, says=(name, *says), files={name: content}, places=places)


def options(*arguments: str, says: tuple[str, ...]) -> Refused:
    """A sound table that must not be compiled with these options."""
    files = {"facts.csv": HEADER + "Alice,wife,Sarah\n"}
    return Refused(command=("compile", "facts.csv", *arguments), says=says, files=files)


def memory(*command: str, says: tuple[str, ...], **files: str | bytes | None) -> Refused:
    """A command on the memory, in which files may be altered or taken away."""
    return Refused(command=command, says=says, files={f"family/{name}": files[name] for name in files})


def _parquet(**columns: list[object]) -> bytes:
    buffer = io.BytesIO()
    pl.DataFrame(columns).write_parquet(buffer)
    return buffer.getvalue()


def _reserved(mark: str) -> dict[str, Refused]:
    why = f"holds the reserved character {mark!r} (U+{ord(mark):04X})"
    return {
        f"{mark} in a subject": table(
            f"{HEADER}A{mark},wife,Sarah\n", f"line 2, column 'subject': 'A{mark}'", why
        ),
        f"{mark} in a relation": table(
            f"{HEADER}A,{mark}wife,B\n", f"line 2, column 'relation': '{mark}wife'", why
        ),
        f"{mark} in an object": table(f"{HEADER}A,wife,{mark}\n", f"line 2, column 'object': '{mark}'", why),
        f"{mark} in a wide header": table(f"person,wi{mark}fe\nA,B\n", f"header, column 'wi{mark}fe'", why),
    }


TABLES = {
    "an empty file": table("", "the file is empty"),
    "a header alone": table(HEADER, "no facts, at most a header"),
    "blank lines alone": table("\n\n", "no header"),
    "Latin-1": table(HEADER.encode() + b"M\xfcller,city,Paris\n", "line 2, byte offset 25", "UTF-8", "0xfc"),
    "UTF-16": table((HEADER + "A,b,C\n").encode("utf-16"), "line 1, byte offset 0", "UTF-8", "0xff"),
    "rows of other lengths": table(
        HEADER + "Alice,wife,Sarah\nBob,wife\nCarl,wife,Zoe,extra\n",
        "expected 3 fields, as in the header",
        "line 3: 2 fields: 'Bob', 'wife'",
        "line 4: 4 fields: 'Carl', 'wife', 'Zoe', 'extra'",
        places=2,
    ),
    "an open quotation mark": table(HEADER + 'Alice,wife,"Sarah\n', "line 2", "quotation mark"),
    "a blank object": table(
        HEADER + "Alice,wife,Sarah\nAlice,job,\n",
        "blank object",
        "line 3, column 'object': subject 'Alice', relation 'job'",
    ),
    "a blank object of white space": table(HEADER + "Alice,job,\u00a0 \n", "blank object", "line 2"),
    "a gap in a wide table": table(
        "country,capital,currency\nFrance,Paris,EUR\nNauru,,AUD\n",
        "blank object",
        "line 3, column 'capital': subject 'Nauru', relation 'capital'",
    ),
    "a blank subject": table(HEADER + ",wife,Sarah\n", "blank subject", "line 2, column 'subject'"),
    "a blank relation": table(HEADER + "Alice,,Sarah\n", "blank relation", "line 2, column 'relation'"),
    "two answers to one question": table(
        HEADER + "Alice,wife,Sarah\nAlice,wife,Sarah\nAlice,wife,Mary\nBob,wife,Zoe\n",
        "lines 2 and 4, column 'object': subject 'Alice', relation 'wife': 'Sarah' and 'Mary'",
    ),
    "two answers in a wide table": table(
        "country,capital\nFrance,Paris\nFrance,Lyon\n",
        "lines 2 and 3, column 'capital': subject 'France', relation 'capital': 'Paris' and 'Lyon'",
    ),
    "two answers by two Unicode forms": table(
        HEADER + "Café,city,Paris\nCafe\u0301,city,Rome\n", "lines 2 and 3", "'Paris' and 'Rome'"
    ),
    **_reserved("␞"),
    **_reserved("␟"),
    **_reserved("␃"),
    **_reserved("␀"),
    "a header in capitals": table("Subject,Relation,Object\nA,b,C\n", "no column 'subject'", "'Subject'"),
    "a column without a name": table("person,,job\nA,b,c\n", "header", "column 2 has none"),
    "one column": table("person\nA\n", "a column of subjects and one for each relation", "'person'"),
    "a column twice": table(
        "subject,relation,object,object\nA,b,C,D\n", "header", "more than once: 'object'"
    ),
    "triples without a header": table(
        "brazil\tcapital\tbrasilia\nfrance\tcapital\tparis\n",
        "--subject 'brazil'",
        "--no-header",
        name="f.tsv",
    ),
    "an index of pandas": table(
        ",country,capital\n0,Brazil,Brasília\n", "header", "column 1 has none", "by --subject"
    ),
    "a comment above the header": table(
        "# countries, 2024\ncountry,capital\nFrance,Paris\n", "header", "'# countries'", "a comment?"
    ),
    "semicolons": table("country;capital\nFrance;Paris\n", "separated by commas", "by semicolons"),
    "a header in the middle": table(
        f"{HEADER}A,b,C\n{HEADER}D,e,F\n", "got the names of the columns", "line 3"
    ),
    "a quotation mark that swallows rows": table(
        f'{HEADER}A,b,"C\nD,e,F\nG,h,I"\n', "line 2, field 3", "quotation mark"
    ),
    "several answers to a question": table(
        f"{HEADER}Italy,neighbour,Austria\nItaly,neighbour,France\n",
        "lines 2 and 3",
        "'Austria' and 'France'",
    ),
    "N-Triples": table("<a> <b> <c> .\n", "expected a file ending in .csv", name="facts.nt"),
    "an infinity as a cell": table(
        '{"subject": "a", "relation": "r", "object": -Infinity}\n', "line 1", "-Infinity", name="facts.jsonl"
    ),
    "a cell of 100,000 levels": table(
        '{"subject": ' + "[" * 100_000 + "]" * 100_000 + "}\n", "line 1", "too many", name="facts.jsonl"
    ),
    "relation JSON of 100,000 levels": table("[" * 100_000, "too many lists", name="facts.json"),
    "an infinity in relation JSON": table(
        '{"name": "r", "samples": [{"subject": "a", "object": Infinity}]}', "Infinity", name="facts.json"
    ),
    "a key twice in relation JSON": table(
        '{"name": "r", "name": "q", "samples": []}', "key 'name' more than once", name="facts.json"
    ),
    "Parquet cut short": table(
        _parquet(subject=["a"], relation=["r"], object=["b"])[:-9],
        "expected a Parquet file",
        name="f.parquet",
    ),
    "Parquet with one byte changed": table(
        _parquet(subject=["a"], relation=["r"], object=["b"]).replace(b"PAR1", b"PAR2", 1),
        "expected a Parquet file",
        name="f.parquet",
    ),
    "nested Parquet": table(
        _parquet(subject=["a"], relation=["r"], object=[["b"]]), "column 'object'", "List", name="f.parquet"
    ),
    "JSON lines amiss": table(
        '{"subject": "a" "relation": "r"}\n', "line 1, character 17", "JSON", name="facts.jsonl"
    ),
    "JSON lines of other keys": table(
        '{"subject": "a", "relation": "r", "object": "b"}\n{"subject": "a", "relation": "r"}\n',
        "expected the keys 'subject', 'relation', 'object'",
        "line 2: 'subject', 'relation'",
        name="facts.jsonl",
    ),
    "JSON lines of lists": table("[1]\n", "line 1", "JSON object", "[1]", name="facts.jsonl"),
    "a list as a cell": table(
        '{"subject": "a", "relation": "r", "object": ["b"]}\n', "line 1, column 'object'", name="facts.jsonl"
    ),
    "NaN as a cell": table(
        '{"subject": "a", "relation": "r", "object": NaN}\n', "line 1", "NaN", name="facts.jsonl"
    ),
    "half a surrogate pair": table(
        '{"subject": "\\ud83d", "relation": "r", "object": "b"}\n',
        "line 1, column 'subject'",
        "lone surrogate",
        name="facts.jsonl",
    ),
    "no Parquet": table("hello", "expected a Parquet file", name="facts.parquet"),
    "fractions in Parquet": table(
        _parquet(subject=["a"], relation=["r"], object=[1.5]),
        "column 'object': expected text or whole numbers, got Float64",
        name="facts.parquet",
    ),
    "relation JSON without samples": table(
        '{"name": "wife"}', "relation 1 ('wife')", "samples", name="f.json"
    ),
    "an unknown extension": table(HEADER, "expected a file ending in .csv", name="facts.txt"),
}

OPTIONS = {
    "a header where none is": options(
        "-o", "memory", "--no-header", says=("the names of the columns", "line 1")
    ),
    "no header and columns by name": options(
        "-o", "memory", "--no-header", "--subject", "subject", says=("no form and no column names",)
    ),
    "no such file": Refused(command=("compile", "no.csv", "-o", "memory"), says=("no.csv: no such file",)),
    "a folder for a table": Refused(
        command=("compile", "family", "-o", "memory"), says=("family: expected a file, got a directory",)
    ),
    "a column that is not there": options(
        "-o",
        "memory",
        "--subject",
        "who",
        says=("facts.csv: no column 'who'", "'subject', 'relation', 'object'"),
    ),
    "one column for two": options(
        "-o", "memory", "--relation", "object", says=("three different columns", "'object', 'object'")
    ),
    "columns of a wide table": options(
        "-o", "memory", "--form", "wide", "--object", "x", says=("no relation and object columns", "'wide'")
    ),
    "hops 0": options("-o", "memory", "--hops", "0", says=("hop limit", "1 or more, got 0")),
    "levels 1": options("-o", "memory", "--levels", "1", says=("2 to 127 levels, got 1",)),
    "levels 200": options("-o", "memory", "--levels", "200", says=("2 to 127 levels, got 200",)),
    "an unknown dtype": options(
        "-o", "memory", "--dtype", "int4", says=("float32, bfloat16, float16", "'int4'")
    ),
    "more hops than fit in memory": options("-o", "memory", "--hops", "1000000", says=("weights", "bytes")),
    "an output that exists": options("-o", "family", says=("family: already exists", "--force")),
    "an output that is a file": options("-o", "facts.csv", "--force", says=("facts.csv: expected a folder",)),
    "an output below a file": options(
        "-o", "facts.csv/memory", says=("facts.csv/memory: cannot be written",)
    ),
    "a folder that is no memory": Refused(
        command=("compile", "facts.csv", "-o", "work", "--force"),
        says=("work: expected a new folder or a memory, found other work", "certificate.json"),
        files={"facts.csv": HEADER + "Alice,wife,Sarah\n", "work/thesis.txt": "years of work"},
    ),
}

QUESTIONS = {
    "an unknown subject": memory("ask", "family", "Alise", "wife", says=("'Alise'", "nearest: 'Alice'")),
    "a name in other letters": memory("ask", "family", "alice", "wife", says=("'alice'", "nearest: 'Alice'")),
    "an unknown relation": memory("ask", "family", "Alice", "wyfe", says=("relations", "'wyfe'", "'wife'")),
    "a mark in a name": memory("ask", "family", "␟Alice", "wife", says=("'␟Alice'", "nearest: 'Alice'")),
    "more hops than compiled for": memory(
        "ask", "family", "Alice", *["wife"] * 4, says=("1 to 3 relations (the hop limit), got 4",)
    ),
    "an edit of an unknown subject": memory(
        "edit", "family", "Alicia", "wife", "Grace", says=("subjects", "'Alicia'", "nearest: 'Alice'")
    ),
    "an edit of an attribute": memory(
        "edit", "family", "doctor", "wife", "Grace", says=("subjects", "'doctor'")
    ),
    "an edit of an unknown relation": memory(
        "edit", "family", "Alice", "wif", "Grace", says=("relations", "'wif'", "nearest: 'wife'")
    ),
    "an edit to an unknown object": memory(
        "edit", "family", "Alice", "wife", "Gracie", says=("entities", "'Gracie'", "nearest: 'Grace'")
    ),
    "an edit over another memory": memory(
        "edit", "family", "Alice", "wife", "Grace", "-o", "family", says=("family: already exists", "--force")
    ),
    "forgetting of an unknown subject": memory(
        "forget", "family", "Davied", "wife", says=("subjects", "'Davied'", "nearest: 'David'")
    ),
    "forgetting of an unknown relation": memory(
        "forget", "family", "Alice", "jobs", says=("'jobs'", "'job'")
    ),
}

MEMORIES = {
    "no such memory": memory(
        "info", "nowhere", says=("nowhere: expected the folder of a memory, found nothing",)
    ),
    "a file for a memory": memory(
        "info", "family/config.json", says=("expected the folder of a memory, found a file",)
    ),
    "a folder without certificate": memory(
        "ask",
        "family",
        "Alice",
        "wife",
        says=("family/certificate.json: missing",),
        **{"certificate.json": None},
    ),
    "a certificate cut short": memory(
        "verify",
        "family",
        says=("family/certificate.json: is not JSON",),
        **{"certificate.json": '{"format": 1,'},
    ),
    "a certificate that is a list": memory(
        "info",
        "family",
        says=("family/certificate.json: expected a JSON object",),
        **{"certificate.json": "[]"},
    ),
    "a certificate written by hand": memory(
        "info", "family", says=("family/certificate.json: altered",), **{"certificate.json": '{"format": 1}'}
    ),
    "tensors that are missing": memory(
        "ask",
        "family",
        "Alice",
        "wife",
        says=("family/model.safetensors: missing",),
        **{"model.safetensors": None},
    ),
    "tensors cut short": memory(
        "ask",
        "family",
        "Alice",
        "wife",
        says=("family/model.safetensors: altered or truncated",),
        **{"model.safetensors": b"\0"},
    ),
    "an altered configuration": memory(
        "edit",
        "family",
        "Alice",
        "wife",
        "Grace",
        says=("family/config.json: altered",),
        **{"config.json": "{}"},
    ),
}

CLAIMS = {
    "an unknown claim": Refused(command=("reproduce", "--claims", "K1,K99"), says=("K1, ", "'K99'")),
    "no claim": Refused(command=("reproduce", "--claims", ""), says=("claims", "''")),
    "an unknown preset": Refused(
        command=("reproduce", "--preset", "huge"), says=("quick, standard, paper", "'huge'")
    ),
    "a file for the results": Refused(
        command=("reproduce", "-o", "notes.txt"),
        says=("notes.txt: expected a folder",),
        files={"notes.txt": "x"},
    ),
}

REFUSED = TABLES | OPTIONS | QUESTIONS | MEMORIES | CLAIMS

WRONG_USAGE = {
    "no table": (("compile",), "facts"),
    "no output": (("compile", "facts.csv"), "--output"),
    "an unknown form": (
        ("compile", "facts.csv", "-o", "memory", "--form", "square"),
        "'auto', 'long', 'wide'",
    ),
    "an unknown architecture": (("compile", "facts.csv", "-o", "memory", "--arch", "gpt"), "'opt', 'llama'"),
    "a negative seed of rotation": (("compile", "facts.csv", "-o", "memory", "--rotate", "-1"), "--rotate"),
    "hops that are no number": (("compile", "facts.csv", "-o", "memory", "--hops", "two"), "--hops"),
    "no relation": (("ask", "family", "Alice"), "relations"),
    "no answer": (("edit", "family", "Alice", "wife"), "answer"),
    "fewer than no chains": (("verify", "family", "--chains", "-1"), "--chains"),
    "a negative seed": (("verify", "family", "--seed", "-1"), "--seed"),
    "an unknown command": (("recall", "family"), "recall"),
}
"""Commands that cannot be understood, and what the message must name."""
