"""Dates from entity JSON to XSD: calendars, years before Christ, precision, impossible days."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from kg_functions.build import dates
from kg_functions.build.dates import astronomical_year, julian_to_gregorian, xsd_date_time
from kg_functions.rdf import GREGORIAN_CALENDAR as GREGORIAN
from kg_functions.rdf import JULIAN_CALENDAR as JULIAN

CASES = [
    # A day in each calendar.
    ("+1952-03-11T00:00:00Z", 11, GREGORIAN, "1952-03-11T00:00:00Z"),
    ("+0337-05-22T00:00:00Z", 11, JULIAN, "0337-05-23T00:00:00Z"),
    ("+1582-10-05T00:00:00Z", 11, JULIAN, "1582-10-15T00:00:00Z"),
    ("+1700-02-29T00:00:00Z", 11, JULIAN, "1700-03-11T00:00:00Z"),
    # Before Christ (B49): JSON has no year 0, RDF has.
    ("-0044-03-15T00:00:00Z", 11, GREGORIAN, "-0043-03-15T00:00:00Z"),
    ("-0044-03-15T00:00:00Z", 11, JULIAN, "-0043-03-13T00:00:00Z"),
    ("-0001-07-01T00:00:00Z", 11, GREGORIAN, "0000-07-01T00:00:00Z"),
    ("-0001-00-00T00:00:00Z", 9, GREGORIAN, "0000-01-01T00:00:00Z"),
    ("-0044-00-00T00:00:00Z", 9, JULIAN, "-0043-01-01T00:00:00Z"),
    # Coarser than a year, a round number is no date and stays as it is.
    ("-0500-00-00T00:00:00Z", 7, GREGORIAN, "-0500-01-01T00:00:00Z"),
    ("-13798000000-00-00T00:00:00Z", 3, GREGORIAN, "-13798000000-01-01T00:00:00Z"),
    # What is finer than the precision does not count, whatever the calendar.
    ("+1940-07-09T00:00:00Z", 9, JULIAN, "1940-01-01T00:00:00Z"),
    ("+1940-07-09T00:00:00Z", 10, JULIAN, "1940-07-01T00:00:00Z"),
    ("+1986-00-00T00:00:00Z", 11, GREGORIAN, "1986-01-01T00:00:00Z"),
    # Days that do not exist become the last of the month; leap years before Christ count from 1.
    ("+2001-02-31T00:00:00Z", 11, GREGORIAN, "2001-02-28T00:00:00Z"),
    ("+2000-02-30T00:00:00Z", 11, GREGORIAN, "2000-02-29T00:00:00Z"),
    ("-0001-02-30T00:00:00Z", 11, GREGORIAN, "0000-02-29T00:00:00Z"),
    ("+2001-13-45T00:00:00Z", 11, GREGORIAN, "2001-12-31T00:00:00Z"),
    # Older documents pad the year to eleven digits.
    ("+00000001952-03-11T00:00:00Z", 11, GREGORIAN, "1952-03-11T00:00:00Z"),
    ("+12345-01-02T00:00:00Z", 11, GREGORIAN, "12345-01-02T00:00:00Z"),
    # A Julian day outside the years that can be converted is taken as Gregorian.
    ("-5000-03-01T00:00:00Z", 11, JULIAN, "-4999-03-01T00:00:00Z"),
    ("-4713-01-01T00:00:00Z", 11, JULIAN, "-4712-01-01T00:00:00Z"),
    ("-4713-01-02T00:00:00Z", 11, JULIAN, "-4713-11-25T00:00:00Z"),
    # There is no year 0, and nothing is known of other calendars.
    ("+0000-00-00T00:00:00Z", 9, GREGORIAN, None),
    ("+0000-01-01T00:00:00Z", 11, JULIAN, None),
    ("+1952-03-11T00:00:00Z", 11, "http://www.wikidata.org/entity/Q12138", None),
    ("+1952-03-11T00:00:00Z", 9, "http://www.wikidata.org/entity/Q12138", "1952-01-01T00:00:00Z"),
]


@pytest.mark.parametrize(("time", "precision", "calendar", "expected"), CASES)
def test_date(time: str, precision: int, calendar: str, expected: str | None) -> None:
    assert xsd_date_time(time, precision, calendar) == expected


@pytest.mark.parametrize("time", ["", "1952", "+1952-03T00:00:00Z", "+19a2-03-11T00:00:00Z"])
def test_what_is_not_a_date_is_refused(time: str) -> None:
    with pytest.raises(ValueError, match="not a date"):
        xsd_date_time(time, 11, GREGORIAN)


@given(st.dates(min_value=date(1, 1, 3)))
@example(date(1900, 2, 28))
@example(date(1900, 3, 1))
@example(date(2000, 3, 1))
def test_the_calendars_drift_apart_by_the_leap_days_that_one_leaves_out(day: date) -> None:
    left_out = day.year // 100 - day.year // 400 - 2
    if day.month < 3 and day.year % 100 == 0 and day.year % 400 != 0:
        left_out -= 1
    converted = julian_to_gregorian(day.year, day.month, day.day)
    assume(converted is not None and converted[0] <= 9999)
    assert date(*converted) - day == timedelta(left_out)


@given(st.integers(-9999, 9999).filter(bool))
def test_astronomical_years_have_no_gap(year: int) -> None:
    following = year + 1 or 1
    assert astronomical_year(following) == astronomical_year(year) + 1


MUTATIONS = {
    "no calendar is converted": ("julian_to_gregorian", lambda *day: None),
    "there is no year 0": ("astronomical_year", lambda year: year),
    "days count at month precision": ("MONTH", -1),
    "months count at year precision": ("YEAR", -1),
    "months have 31 days": ("_days_in_month", lambda year, month: 31),
    "every day is coarse": ("DAY", 99),
}


@pytest.mark.parametrize("rule", MUTATIONS)
def test_cases_notice_a_missing_rule(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dates, *MUTATIONS[rule])
    results = [xsd_date_time(*case[:3]) for case in CASES]
    assert results != [case[3] for case in CASES]
