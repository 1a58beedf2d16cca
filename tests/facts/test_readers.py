import csv
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from georecall.errors import TableError
from georecall.facts import checks
from georecall.facts.names import RESERVED, normalise
from georecall.facts.readers import read_table, read_with_report
from georecall.facts.reports import ReadReport
from georecall.facts.table import FactTable

VALUES = """subject,relation,object
NA,capital,Windhoek
nan,spouse,None
null,spouse,NaN
007,agency,MI6
1e5,equals,100000
TRUE,opposite,FALSE
0,next,1
10280,next,10281
1028,next,1029
10281,next,10282
123456789012345678901234567890,next,123456789012345678901234567891
"""
DELIMITERS = """subject,relation,object
"Smith, John","works ""here""\","Acme, Inc."
"Line
break",kind,"multi
line"
"tab\there",kind,tab
a=b,kind,equation
"""
UNICODE = """subject,relation,object
Cafe\u0301,city,Paris
Caf\u00e9,owner,Zoe
\u00c5ngstr\u00f6m,field,spectroscopy
A\u030angstro\u0308m,born,1814
דוד,father,ישי
東京,country,日本
👨\u200d👩\u200d👧,kind,emoji
"""
SPACES = """subject,relation,object
New York,state,New York
 New York ,country,USA
New\u00a0York,mayor,Eric
San  Jose,state,California
San Jose,country,USA
"""
WIDE = """country,capital,currency,continent
France,Paris,EUR,Europe
Nauru,,AUD,Oceania
Namibia,Windhoek,NAD,Africa
Niger,Niamey,XOF,Africa
"""
RESERVED_LOOKING = """subject,relation,object
<end>,wife,<unknown>
<pad>,<s>,</s>
Alice,<end>,Sarah
|,->,\\n
"""
CYCLES = "subject,relation,object\na,next,b\nb,next,c\nc,next,a\na,self,a\nb,self,b\nc,self,c\n"
CONFLICT = "subject,relation,object\nAlice,wife,Sarah\nAlice,wife,Sarah\nAlice,wife,Mary\nBob,wife,Zoe\n"
BLANK = "subject,relation,object\nAlice,wife,Sarah\nAlice,job,\nBob,job,baker\n"


def facts(table):
    return {(s, r): o for s, r, o in table.facts()}


def test_every_cell_is_text(read):
    table, report = read(VALUES)
    assert len(table.subjects) == table.n_facts == 11
    assert list(table.facts()) == [tuple(line.split(",")) for line in VALUES.splitlines()[1:]]
    assert report.notes() == ()


def test_a_byte_order_mark_and_crlf_are_no_part_of_the_table(read):
    table, report = read(b"\xef\xbb\xbfsubject,relation,object\r\nAlice,wife,Sarah\r\nSarah,mother,Mary\r\n")
    assert list(table.facts()) == [("Alice", "wife", "Sarah"), ("Sarah", "mother", "Mary")]
    assert report == ReadReport()


def test_quoted_separators_quotes_and_newlines_survive(read):
    assert list(read(DELIMITERS)[0].facts()) == [
        ("Smith, John", 'works "here"', "Acme, Inc."),
        ("Line\nbreak", "kind", "multi\nline"),
        ("tab\there", "kind", "tab"),
        ("a=b", "kind", "equation"),
    ]


def test_composed_and_decomposed_forms_are_one_name(read):
    table, report = read(UNICODE)
    assert table.subjects == ("Café", "Ångström", "דוד", "東京", "👨‍👩‍👧")
    assert facts(table)["Café", "owner"] == "Zoe"
    assert facts(table)["Ångström", "born"] == "1814"
    assert report == ReadReport(cells_composed=2)


def test_outer_white_space_is_dropped_and_inner_white_space_reported(read):
    table, report = read(SPACES)
    assert table.subjects == ("New York", "New\u00a0York", "San  Jose", "San Jose")
    assert facts(table)["New York", "country"] == "USA"
    looks = (("New York", "New\u00a0York"), ("San Jose", "San  Jose"))
    assert report == ReadReport(cells_trimmed=1, lookalikes=looks)


def test_two_answers_are_refused_with_both_lines(refusal):
    assert "lines 2 and 4, column 'object': subject 'Alice', relation 'wife': 'Sarah' and 'Mary'" in refusal(
        CONFLICT
    )


def test_exact_duplicates_are_dropped_and_counted(read):
    table, report = read(CONFLICT.replace("Mary", " Sarah"))
    assert table.n_facts == 2
    assert (report.duplicates_dropped, report.cells_trimmed) == (2, 1)


@pytest.mark.parametrize("blank", ["", '""', '" "', "\u00a0"])
def test_a_blank_object_is_refused_or_missing_but_never_an_answer(read, refusal, blank):
    content = BLANK.replace("job,\n", f"job,{blank}\n")
    assert "line 3, column 'object': subject 'Alice', relation 'job'" in refusal(content)
    table, report = read(content, allow_missing=True)
    assert facts(table) == {("Alice", "wife"): "Sarah", ("Bob", "job"): "baker"}
    assert report == ReadReport(blanks=1, cells_trimmed=0 if blank in {"", '""'} else 1)


def test_a_blank_beside_an_answer_to_the_same_question_is_a_conflict(refusal):
    content = "subject,relation,object\nAlice,job,\nAlice,job,baker\nAlice,job,\n"
    assert "lines 2 and 3, column 'object'" in (message := refusal(content, allow_missing=True))
    assert "blank and 'baker'" in message
    assert "line 4" not in message


def test_a_subject_whose_every_answer_is_missing_is_still_a_subject(read):
    table, report = read("subject,relation,object\nAlice,job,\nAlice,job,\n", allow_missing=True)
    assert (table.subjects, table.attributes, table.n_facts) == (("Alice",), (), 0)
    assert (report.blanks, report.duplicates_dropped) == (2, 1)


def test_a_wide_table_has_a_relation_in_each_column(read, refusal):
    assert "line 3, column 'capital': subject 'Nauru', relation 'capital'" in refusal(WIDE)
    table, report = read(WIDE, allow_missing=True)
    assert table.relations == ("capital", "currency", "continent")
    assert table.n_facts == 11
    assert facts(table)["Niger", "continent"] == "Africa"
    assert ("Nauru", "capital") not in facts(table)
    assert report == ReadReport(blanks=1)


def test_cells_of_a_wide_table_are_counted_once_each(read):
    _, report = read("who, wife ,job\n Alice ,Sarah ,baker\nBob,Sarah ,smith\n")
    assert report == ReadReport(cells_trimmed=4)


def test_wide_conflicts_and_blank_subjects_name_row_and_column(refusal):
    assert "lines 2 and 3, column 'b': subject 'x', relation 'b': '2' and '3'" in refusal(
        "s,a,b\nx,1,2\nx,1,3\n"
    )
    assert refusal("s,a,b\nx,1,2\n,1,3\n").endswith("blank subject\n  line 3, column 's'")


@pytest.mark.parametrize("mark", RESERVED)
def test_reserved_characters_are_refused_with_every_place(refusal, mark):
    content = f"subject,relation,object\na{mark},r,b\nc,{mark},a\nd,r,x{mark}y\na{mark},s,b\n"
    message = refusal(content)
    for place in (
        "line 2, column 'subject'",
        "line 3, column 'relation'",
        "line 4, column 'object'",
        "line 5",
    ):
        assert place in message
    assert f"header, column '{mark}'" in refusal(f"who,{mark}\na,b\nc,d\n")


def test_names_that_look_like_control_tokens_are_ordinary(read):
    assert list(read(RESERVED_LOOKING)[0].facts()) == [
        ("<end>", "wife", "<unknown>"),
        ("<pad>", "<s>", "</s>"),
        ("Alice", "<end>", "Sarah"),
        ("|", "->", "\\n"),
    ]


def test_cycles_and_attributes_without_facts_are_read(read):
    assert read(CYCLES)[0].n_facts == 6
    table, _ = read("subject,relation,object\nAlice,born,London\nAlice,wife,Sarah\nSarah,born,Paris\n")
    assert table.entities == ("Alice", "Sarah", "London", "Paris")


def test_one_fact_is_a_table(read):
    table, report = read("subject,relation,object\nAlice,wife,Sarah\n")
    assert (table.subjects, table.relations, table.attributes) == (("Alice",), ("wife",), ("Sarah",))
    assert report == ReadReport()


@pytest.mark.parametrize("content", ["", "\ufeff", "\n\r\n"])
def test_empty_files_are_refused(refusal, content):
    assert re.search(r"empty|no header", refusal(content))


@pytest.mark.parametrize(
    "content", ["subject,relation,object\n", "country,capital", "subject,relation,object\n\n\n"]
)
def test_a_header_alone_is_refused(refusal, content):
    assert "no facts" in refusal(content)


def test_text_that_is_not_utf8_is_refused_with_line_and_byte(refusal):
    message = refusal("subject,relation,object\nMüller,city,Köln\n".encode("latin-1"))
    assert "line 2, byte offset 25: expected UTF-8, got the byte 0xfc" in message
    assert "line 1, byte offset 0" in refusal("subject,relation,object\na,b,c\n".encode("utf-16"))
    assert "UTF-16" in refusal("subject,relation,object\na,b,c\n".encode("utf-16-le"))


def test_ragged_rows_are_refused_with_what_they_hold(refusal):
    message = refusal("subject,relation,object\nAlice,wife,Sarah\nBob,wife\nCarl,wife,Zoe,extra\n")
    assert "expected 3 fields" in message
    assert "line 3: 2 fields: 'Bob', 'wife'" in message
    assert "line 4: 4 fields: 'Carl', 'wife', 'Zoe', 'extra'" in message


def test_lines_are_counted_as_in_the_file(refusal):
    content = '\r\nsubject,relation,object\r\n"a\nb\r\nc",r,x\r\n\r\n,r,x\r\n"q\nq",r,\r\n'
    assert "line 7, column 'subject'" in refusal(content)
    assert "line 8, column 'object'" in refusal(content.replace(',r,x\r\n"q', 'y,r,x\r\n"q'))


def test_blank_subjects_and_relations_are_refused_even_where_objects_may_be_missing(refusal):
    assert "blank subject\n  line 2, column 'subject'" in refusal(
        "subject,relation,object\n ,r,o\n", allow_missing=True
    )
    assert "blank relation\n  line 2, column 'relation'" in refusal(
        "subject,relation,object\ns,,o\n", allow_missing=True
    )


def test_many_faults_are_shown_as_ten_and_a_total(refusal):
    message = refusal("subject,relation,object\n" + "".join(f"s{i},r,\n" for i in range(25)))
    assert message.count("line ") == 10
    assert "line 11," in message
    assert "25 in all" in message


@pytest.mark.parametrize(
    "content", ['subject,relation,object\na,r,"b\n', 'subject,relation,object\na,r,"b"c\n']
)
def test_quotation_marks_amiss_are_refused(refusal, content):
    assert "line 2" in refusal(content)


def test_a_quotation_mark_left_open_in_a_long_file_is_refused_where_it_opens(refusal):
    content = 'subject,relation,object\na,r,b\nc,r,"d\n' + "e,r,f\n" * 50_000
    assert "line 3: unexpected end of data" in refusal(content)


def test_paths_that_are_no_tables_are_refused(tmp_path, refusal):
    for path, message in ((tmp_path / "none.csv", "no such file"), (tmp_path, "got a directory")):
        with pytest.raises(TableError, match=message):
            read_with_report(path)
    assert "expected a file ending in .csv, .tsv" in refusal("a,b\n", "facts.xlsx")
    assert "no column 'subject'" in refusal(VALUES.replace("subject", "head"), form="long")


def test_tabs_separate_in_tsv_files_whose_extension_may_be_in_capitals(read):
    table, _ = read('subject\trelation\tobject\n"a\tb"\tr,s\tc\n', "FACTS.TSV")
    assert list(table.facts()) == [("a\tb", "r,s", "c")]


def test_columns_can_be_named_and_others_are_ignored_with_a_note(read):
    content = "tail,source,head,rel,\nParis,web,France,capital,1\n"
    table, report = read(content, subject=" head", relation="rel", object="tail")
    assert list(table.facts()) == [("France", "capital", "Paris")]
    assert report == ReadReport(ignored_columns=("source", ""))


def test_read_table_warns_of_what_the_reader_noted(tmp_path):
    (tmp_path / "facts.csv").write_text(SPACES, encoding="utf-8")
    with pytest.warns(UserWarning, match=r"facts\.csv: ") as noted:
        table = read_table(tmp_path / "facts.csv")
    assert len(noted) == len(read_with_report(tmp_path / "facts.csv")[1].notes()) == 3
    assert "facts.csv: different names that look alike: 'New York', " in str(noted[1].message)
    assert table.n_facts == 5


def test_more_cells_than_memory_can_hold_are_refused(refusal, monkeypatch):
    monkeypatch.setattr(checks, "MAX_CELLS", 5)
    assert "got 3 subjects and 2 relations" in refusal(CYCLES)


cells = st.text(st.characters(exclude_categories=["Cs"], exclude_characters=RESERVED)).filter(normalise)


@settings(deadline=None)
@given(
    st.dictionaries(
        st.tuples(cells, cells).map(lambda q: tuple(map(normalise, q))), cells, min_size=1, max_size=5
    )
)
def test_any_names_survive_a_csv_file(tmp_path_factory, answers):
    rows = [(s, r, o) for (s, r), o in answers.items()]
    path = tmp_path_factory.mktemp("csv") / "facts.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("subject", "relation", "object"), *rows])
    table, _ = read_with_report(path)
    assert table == FactTable.from_facts(rows)
    assert facts(table) == {question: normalise(answer) for question, answer in answers.items()}
