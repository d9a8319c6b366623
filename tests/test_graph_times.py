"""Points in time: cut to their precision, in words, and the year as people write it (B49, B50)."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg_functions.build.dates import xsd_date_time
from kg_functions.rdf import GREGORIAN_CALENDAR, JULIAN_CALENDAR
from kg_functions.wikidata.times import Moment, as_julian, time_value

MIDNIGHT = ("00", "00", "00")


def value(lexical: str, precision: int | None, calendar: str = GREGORIAN_CALENDAR) -> list[object]:
    found = time_value(lexical, precision, calendar)
    assert found is not None
    assert found["type"] == "time"
    assert list(found) == ["type", "time", "precision", "calendar", "year", "text"]
    return [found["time"], found["precision"], found["year"], found["text"]]


@pytest.mark.parametrize(
    ("lexical", "precision", "expected"),
    [
        ("1986-05-11T00:00:00Z", 11, ["+1986-05-11", "day", 1986, "11 May 1986"]),
        ("1986-05-01T00:00:00Z", 10, ["+1986-05", "month", 1986, "May 1986"]),
        ("1986-01-01T00:00:00Z", 9, ["+1986", "year", 1986, "1986"]),
        ("1980-01-01T00:00:00Z", 8, ["+198", "decade", None, "1980s"]),
        ("1950-01-01T00:00:00Z", 7, ["+19", "century", None, "20th century"]),
        ("2000-01-01T00:00:00Z", 7, ["+20", "century", None, "20th century"]),
        ("1201-01-01T00:00:00Z", 7, ["+12", "century", None, "13th century"]),
        ("1500-01-01T00:00:00Z", 6, ["+1", "millennium", None, "2nd millennium"]),
        ("-0043-03-13T00:00:00Z", 11, ["-0043-03-13", "day", -44, "13 March 44 BCE"]),
        ("-0043-01-01T00:00:00Z", 9, ["-0043", "year", -44, "44 BCE"]),
        ("0000-01-01T00:00:00Z", 9, ["+0000", "year", -1, "1 BCE"]),
        ("0001-01-01T00:00:00Z", 9, ["+0001", "year", 1, "1"]),
        ("-0500-01-01T00:00:00Z", 7, ["-05", "century", None, "5th century BCE"]),
        ("-10000-01-01T00:00:00Z", 5, ["-1", "ten thousand years", None, "10000 years BCE"]),
        ("-66000000-01-01T00:00:00Z", 3, ["-66", "million years", None, "66 million years BCE"]),
        (
            "-13798000000-01-01T00:00:00Z",
            0,
            ["-13", "billion years", None, "14 billion years BCE"],
        ),
        ("0700-01-01T00:00:00Z", 4, ["+0", "hundred thousand years", None, "0 years CE"]),
        # How QLever gives dates without a day or a month back.
        ("2020", None, ["+2020", "year", 2020, "2020"]),
        ("1952-03", None, ["+1952-03", "month", 1952, "March 1952"]),
        ("2001-12-31T13:05:00Z", 12, ["+2001-12-31T13", "hour", 2001, "31 December 2001, 13"]),
    ],
)
def test_digits_words_and_year(lexical: str, precision: int | None, expected: list[object]) -> None:
    assert value(lexical, precision) == expected


def test_a_julian_day_is_written_as_it_was_entered() -> None:
    # Newton: born on 25 December 1642 (Julian), which RDF has as 4 January 1643.
    found = time_value("1643-01-04T00:00:00Z", 11, JULIAN_CALENDAR)
    assert found == {
        "type": "time",
        "time": "+1643-01-04",
        "precision": "day",
        "calendar": "julian",
        "year": 1642,
        "text": "25 December 1642",
    }
    caesar = time_value("-0043-03-13T00:00:00Z", 11, JULIAN_CALENDAR)
    assert caesar is not None
    assert (caesar["time"], caesar["year"]) == ("-0043-03-13", -44)
    assert caesar["text"] == "15 March 44 BCE"


def test_a_julian_year_is_not_converted() -> None:
    found = time_value("1642-01-01T00:00:00Z", 9, JULIAN_CALENDAR)
    assert found is not None
    assert (found["time"], found["year"], found["calendar"]) == ("+1642", 1642, "julian")


@pytest.mark.parametrize("lexical", ["", "yesterday", "1986/05/11", "--05-11"])
def test_what_is_no_time(lexical: str) -> None:
    assert time_value(lexical, 11, None) is None


@given(st.dates(min_value=date(1, 3, 1), max_value=date(9999, 12, 1)))
def test_julian_dates_agree_with_day_counts(day: date) -> None:
    julian = as_julian(Moment(day.year, day.month, day.day, MIDNIGHT))
    assert _julian_ordinal(julian.year, julian.month, julian.day) == day.toordinal()


@given(st.integers(-4_700, 20_000), st.integers(1, 12), st.integers(1, 28))
def test_julian_dates_four_centuries_apart(year: int, month: int, day: int) -> None:
    """400 Gregorian years are 146,097 days; 400 Julian years three days more."""
    here = as_julian(Moment(year, month, day, MIDNIGHT))
    there = as_julian(Moment(year + 400, month, day, MIDNIGHT))
    distance = _julian_ordinal(there.year, there.month, there.day) - _julian_ordinal(
        here.year, here.month, here.day
    )
    assert distance == 146_097


@pytest.mark.parametrize(
    ("entered", "text"),
    [
        ("-44-03-15T00:00:00Z", "15 March 44 BCE"),
        ("-4713-01-02T00:00:00Z", "2 January 4713 BCE"),
        # In the Gregorian calendar this would be day 0 of the count of Julian days.
        ("-4714-11-24T00:00:00Z", "24 November 4714 BCE"),
        ("-4714-06-07T00:00:00Z", "7 June 4714 BCE"),
        ("-9000-06-07T00:00:00Z", "7 June 9000 BCE"),
        ("+1465072-12-31T00:00:00Z", "31 December 1465072"),
        ("+1466000-12-31T00:00:00Z", "31 December 1466000"),
    ],
)
def test_julian_days_come_back_as_they_were_entered(entered: str, text: str) -> None:
    """Also those that Wikibase does not convert for RDF."""
    lexical = xsd_date_time(entered, 11, JULIAN_CALENDAR)
    assert lexical is not None
    assert value(lexical, 11, JULIAN_CALENDAR)[3] == text


def _julian_ordinal(year: int, month: int, day: int) -> int:
    """Days of the Julian calendar, by counting months; 1 January 1 (Gregorian) is day 1."""
    lengths = [31, 29 if year % 4 == 0 else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    before = (year - 1) * 365 + (year - 1) // 4
    return before + sum(lengths[: month - 1]) + day - 2
