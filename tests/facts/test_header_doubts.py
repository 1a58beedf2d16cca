"""A first line is a header only where nothing speaks against it; a user who names a column has settled it."""

import pytest

from georecall.facts.reports import ReadReport

TRIPLES = "brazil\tcapital\tbrasilia\nfrance\tcapital\tparis\njapan\tcapital\ttokyo\n"
INDEX = ",country,capital,continent\n0,Brazil,Brasília,South America\n1,France,Paris,Europe\n"


def facts(table):
    return list(table.facts())


def test_triples_without_a_header_are_refused_with_both_ways_out(refusal):
    message = refusal(TRIPLES, "facts.tsv")
    assert "is the first line, 'brazil', 'capital', 'brasilia', a header?" in message
    assert "by --subject 'brazil'" in message
    assert "say --no-header (line 2 reads like it)" in message


def test_triples_are_read_without_a_header_and_none_is_lost(read):
    expected = [
        ("brazil", "capital", "brasilia"),
        ("france", "capital", "paris"),
        ("japan", "capital", "tokyo"),
    ]
    assert facts(read(TRIPLES, "facts.tsv", has_header=False)[0]) == expected
    assert facts(read("\ufeff" + TRIPLES.replace("\t", ","), has_header=False)[0]) == expected


@pytest.mark.parametrize(
    "content",
    [
        "a,r,b\nc,r,d\n",
        "a,r,b\na,q,d\n",
        "a,r,b\nc,q,a\n",
        "a,r,b\nb,q,c\n",
        "a,r,b\nc,q,b\n",
        "France,Paris,EUR,Europe\nSpain,Madrid,EUR,Europe\n",
    ],
    ids=[
        "a relation again",
        "a subject again",
        "a subject as object",
        "an object as subject",
        "an object again",
        "a wide table without its header",
    ],
)
def test_a_csv_whose_first_line_reads_like_its_rows_is_refused(refusal, read, content):
    assert "a header? If it is" in refusal(content)
    read(content, form="wide", subject=content.partition(",")[0])
    read(content, form="wide")


def test_three_columns_of_a_tsv_are_always_asked_about(refusal, read):
    content = "country\tcapital\tcurrency\nFrance\tParis\tEUR\n"
    assert "--subject 'country'" in refusal(content, "facts.tsv")
    assert facts(read(content, "facts.tsv", subject="country")[0])[0] == ("France", "capital", "Paris")
    assert len(facts(read(content.replace("\t", ","))[0])) == 2


def test_a_file_without_a_header_holds_triples_and_nothing_else(refusal):
    assert "expected 3 fields, a subject, a relation and an object" in refusal("a,b\nc,d\n", has_header=False)
    assert "line 1: 2 fields: 'a', 'b'" in refusal("a,b\nc,d\n", has_header=False)
    for options in ({"form": "long"}, {"subject": "a"}):
        assert "no form and no column names" in refusal("a,r,b\n", has_header=False, **options)
    assert "expected a .csv or .tsv file without a header" in refusal("{}", "facts.jsonl", has_header=False)


def test_a_header_that_is_denied_or_comes_again_is_no_fact(refusal):
    header = "subject,relation,object\n"
    assert refusal(f"{header}a,r,b\n", has_header=False).endswith("the names of the columns\n  line 1")
    assert refusal(f"{header}a,r,b\n\ufeff{header}c,r,d\n").endswith("the names of the columns\n  line 3")
    wide = "who,wife,job\na,b,c\nwho,wife,job\n"
    assert refusal(wide, subject="who").endswith("the names of the columns\n  line 3")


def test_an_index_of_pandas_is_left_out_if_the_subject_column_is_named(read, refusal):
    assert "column 1 has none (an index? it is left out if the column of subjects is named" in refusal(INDEX)
    table, report = read(INDEX, subject="country")
    assert (table.subjects, table.relations) == (("Brazil", "France"), ("capital", "continent"))
    assert report == ReadReport(ignored_columns=("",))


@pytest.mark.parametrize("name", ["Unnamed: 0", "Unnamed: 0.1", "__index_level_0__"])
def test_an_index_that_was_given_a_name_is_known_too(read, refusal, name):
    content = f"{name}{INDEX}"
    assert f"column 1 has none but '{name}'" in refusal(content)
    assert read(content, subject="country")[1].ignored_columns == (name,)
    assert read(content, subject=name)[0].relations == ("country", "capital", "continent")


def test_an_index_may_itself_be_the_column_of_subjects(read):
    assert facts(read(",capital\nFrance,Paris\n", subject="")[0]) == [("France", "capital", "Paris")]


def test_an_index_before_triples_is_ignored_with_a_note(read):
    table, report = read(",subject,relation,object\n0,a,r,b\n")
    assert facts(table) == [("a", "r", "b")]
    assert report.notes() == ("columns ignored: ''",)


@pytest.mark.parametrize(
    "line", ["# made by hand, 2024", "#", "% a comment", "// a, b", '{"a": 1, "b": 2}', "<html>, <b>", "; a"]
)
def test_comments_and_other_formats_are_no_header(refusal, line):
    assert "header: expected the names of the columns" in refusal(f"{line}\ncountry,capital\nFrance,Paris\n")


def test_a_header_that_begins_like_a_comment_can_be_confirmed(read):
    assert read("#country,capital\nFrance,Paris\n", subject="#country")[0].relations == ("capital",)
    assert read("# subject,subject,relation,object\nx,a,r,b\n")[0].n_facts == 1


@pytest.mark.parametrize(
    ("name", "content", "assumed", "other"),
    [
        ("facts.csv", "subject;relation;object\na;r;b\n", "commas", "semicolons"),
        ("facts.csv", "country;area, km²\nFrance;643,801\n", "commas", "semicolons"),
        ("facts.csv", "country\tcapital\nFrance\tParis\n", "commas", "tabs"),
        ("facts.csv", "country|capital|euro\nFrance|Paris|yes\n", "commas", "vertical bars"),
        ("facts.tsv", "country,capital\nFrance,Paris\n", "tabs", "commas"),
    ],
)
def test_another_separator_than_that_of_the_name_is_refused(refusal, name, content, assumed, other):
    message = refusal(content, name)
    assert f"expected fields separated by {assumed}" in message
    assert f"they seem to be separated by {other}" in message


def test_other_separators_inside_names_are_no_separators(read):
    assert read("country,cities\nFrance,Paris;Lyon\nItaly,Rome\n")[0].n_facts == 2
    assert read("a;b,c\nd;e,f\n", subject="a;b")[0].relations == ("c",)
