"""Wikibase's dates as RDF has them: proleptic Gregorian days, astronomical years.

Entity JSON keeps the day in the calendar in which it was entered, has no year 0, and marks unknown
months and days with 00.
"""

from __future__ import annotations

import re
from calendar import monthrange
from typing import Final

from kg_functions.calendars import JULIAN_YEARS
from kg_functions.rdf import GREGORIAN_CALENDAR, JULIAN_CALENDAR

YEAR: Final = 9
MONTH: Final = 10
DAY: Final = 11

_TIME: Final = re.compile(r"([+-])([0-9]+)-([0-9]+)-([0-9]+)T(.*)", re.DOTALL)


def xsd_date_time(time: str, precision: int, calendar: str) -> str | None:
    """The lexical form of an ``xsd:dateTime``.

    Args:
        time: as entity JSON has it, such as ``+1952-03-11T00:00:00Z`` or ``-0044-03-15T00:00:00Z``.
        precision: Wikibase's number, 11 for a day, 9 for a year.
        calendar: the IRI of the calendar model.

    Returns:
        The date in XSD 1.1, or None where there is no such date: the year 0, or an unknown
        calendar with day precision. Wikibase then writes the text as a plain string.

    Raises:
        ValueError: where ``time`` does not have the form of a date.
    """
    found = _TIME.fullmatch(time)
    if found is None:
        raise ValueError(f"{time!r} is not a date")
    sign, year_text, month_text, day_text, clock = found.groups()
    year = int(year_text)
    if year == 0:
        return None
    month = min(max(int(month_text), 1), 12)
    day = max(int(day_text), 1)
    before_christ = sign == "-"
    if precision >= DAY and calendar == JULIAN_CALENDAR:
        converted = julian_to_gregorian(-year if before_christ else year, month, day)
        if converted is not None:
            return _written(*converted, clock)
    elif precision >= DAY and calendar != GREGORIAN_CALENDAR:
        return None
    if precision <= YEAR:
        month = day = 1
    elif precision == MONTH:
        day = 1
    day = min(day, _days_in_month(-year if before_christ else year, month))
    if before_christ:
        # Years coarser than a year are round numbers, not dates: Wikibase leaves them unshifted.
        year = astronomical_year(-year) if precision >= YEAR else -year
    return _written(year, month, day, clock)


def astronomical_year(year: int) -> int:
    """The number of a year in a count that has a year 0: 44 BCE, given as -44, is -43."""
    return year + 1 if year < 0 else year


def julian_to_gregorian(year: int, month: int, day: int) -> tuple[int, int, int] | None:
    """Convert a day of the Julian calendar.

    Args:
        year: without a year 0: 44 BCE is -44.
        month: 1 to 12.
        day: 1 to 31; a day past the end of its month is counted on.

    Returns:
        Astronomical year, month, day in the proleptic Gregorian calendar; None outside the years
        that Wikibase converts.
    """
    if year not in JULIAN_YEARS or day > 31:
        return None
    number = _julian_day_number(astronomical_year(year), month, day)
    return _gregorian_from_day_number(number) if number > 0 else None


def _julian_day_number(year: int, month: int, day: int) -> int:
    """Days since 1 January 4713 BCE (Julian); counts years from March, so leap days come last."""
    shift = (14 - month) // 12
    years = year + 4800 - shift
    months = month + 12 * shift - 3
    return day + (153 * months + 2) // 5 + 365 * years + years // 4 - 32083


def _gregorian_from_day_number(number: int) -> tuple[int, int, int]:
    """Year, month, day of a Julian day number (Richards' algorithm)."""
    f = number + 1401 + (4 * number + 274277) // 146097 * 3 // 4 - 38
    e = 4 * f + 3
    h = 5 * (e % 1461 // 4) + 2
    month = (h // 153 + 2) % 12 + 1
    return e // 1461 - 4716 + (14 - month) // 12, month, h % 153 // 5 + 1


def _days_in_month(year: int, month: int) -> int:
    """Days in a Gregorian month; the calendar repeats every 400 years."""
    return monthrange(2000 + astronomical_year(year) % 400, month)[1]


def _written(year: int, month: int, day: int, clock: str) -> str:
    sign = "-" if year < 0 else ""
    return f"{sign}{abs(year):04d}-{month:02d}-{day:02d}T{clock}"
