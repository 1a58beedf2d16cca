"""What is to be recalled: tables of facts, how they are read and asked, and what counts as a right answer."""

from georecall.facts.queries import Queries, Query, all_queries, correct, gold_paths, margins, sample_queries
from georecall.facts.readers import read_table, read_with_report
from georecall.facts.reports import ReadReport
from georecall.facts.table import FactTable
from georecall.facts.table_files import read_parquet, write_parquet
from georecall.facts.worlds import random_bijections, random_functions

__all__ = [
    "FactTable",
    "Queries",
    "Query",
    "ReadReport",
    "all_queries",
    "correct",
    "gold_paths",
    "margins",
    "random_bijections",
    "random_functions",
    "read_parquet",
    "read_table",
    "read_with_report",
    "sample_queries",
    "write_parquet",
]
