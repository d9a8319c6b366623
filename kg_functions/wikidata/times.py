"""Points in time: cutting them to their precision, and the year as people write it.

No Python datetime: years before 1 and beyond 9999 are ordinary here. RDF counts years
astronomically (44 BCE is -0043) and in the Gregorian calendar whatever calendar was meant.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from kg_functions.calendars import JULIAN_YEARS
from kg_functions.rdf import JULIAN_CALENDAR

if TYPE_CHECKING:
    from typing import Any

SECOND: Final = 14
MINUTE: Final = 13
HOUR: Final = 12
DAY: Final = 11
MONTH: Final = 10
YEAR: Final = 9
DECADE: Final = 8
CENTURY: Final = 7
MILLENNIUM: Final = 6

PRECISIONS: Final = {
    0: "billion years",
    1: "hundred million years",
    2: "ten million years",
    3: "million years",
    4: "hundred thousand years",
    5: "ten thousand years",
    MILLENNIUM: "millennium",
    CENTURY: "century",
    DECADE: "decade",
    YEAR: "year",
    MONTH: "month",
    DAY: "day",
    HOUR: "hour",
    MINUTE: "minute",
    SECOND: "second",
}
"""Wikibase's precision codes by name."""

_MONTHS: Final = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_LEXICAL: Final = re.compile(
    r"([+-]?)(\d+)(?:-(\d\d)(?:-(\d\d)(?:T(\d\d):(\d\d):(\d\d)(?:\.\d+)?)?)?)?(?:Z|[+-]\d\d:\d\d)?"
)


class Moment(NamedTuple):
    """A time as RDF has it: an astronomical year and what follows."""

    year: int
    month: int
    day: int
    clock: tuple[str, str, str]


def time_value(lexical: str, precision: int | None, calendar: str | None) -> dict[str, Any] | None:
    """The value of a point in time.

    Args:
        lexical: an xsd:dateTime, xsd:date, xsd:gYearMonth or xsd:gYear.
        precision: Wikibase's code; None takes it from what ``lexical`` holds.
        calendar: the IRI of the calendar in which it was entered, or None for the Gregorian.

    Returns:
        ``{"type", "time", "precision", "calendar", "year", "text"}``, or None where ``lexical``
        is no time.
    """
    found = _LEXICAL.fullmatch(lexical.strip())
    if found is None:
        return None
    sign, year, month, day, *clock = found.groups()
    moment = Moment(
        -int(year) if sign == "-" else int(year),
        int(month or 1) or 1,
        int(day or 1) or 1,
        (clock[0] or "00", clock[1] or "00", clock[2] or "00"),
    )
    if precision not in PRECISIONS:
        precision = DAY if day else MONTH if month else YEAR
    julian = calendar == JULIAN_CALENDAR
    # Only days are converted between the calendars; coarser times stand as they were entered.
    written = as_julian(moment) if julian and precision >= DAY else moment
    return {
        "type": "time",
        "time": cut(moment, precision),
        "precision": PRECISIONS[precision],
        "calendar": "julian" if julian else "gregorian",
        "year": historical(written.year) if precision >= YEAR else None,
        "text": in_words(written, precision),
    }


def historical(year: int) -> int:
    """An astronomical year as people count: 0 is 1 BCE, written -1."""
    return year if year > 0 else year - 1


def cut(moment: Moment, precision: int) -> str:
    """The time's digits as far as its precision reaches: ``+1986``, ``+198``, ``+1986-05``."""
    sign = "-" if moment.year < 0 else "+"
    digits = f"{abs(moment.year):04d}"
    if precision < YEAR:
        return sign + (digits[: precision - YEAR] or "0")
    text = sign + digits
    if precision >= MONTH:
        text += f"-{moment.month:02d}"
    if precision >= DAY:
        text += f"-{moment.day:02d}"
    if precision >= HOUR:
        text += "T" + ":".join(moment.clock[: precision - DAY])
    return text


def in_words(moment: Moment, precision: int) -> str:
    """The time in English: ``11 May 1986``, ``15 March 44 BCE``, ``1980s``, ``20th century``."""
    # Only years are counted astronomically: coarser times before our era keep their round numbers.
    year = historical(moment.year) if precision >= YEAR else moment.year
    era = " BCE" if year < 0 else ""
    size = abs(year)
    if precision >= HOUR:
        return f"{_day(moment)} {size}{era}, {':'.join(moment.clock[: precision - DAY])}"
    if precision == DAY:
        return f"{_day(moment)} {size}{era}"
    if precision == MONTH:
        return f"{_MONTHS[moment.month - 1]} {size}{era}"
    if precision == YEAR:
        return f"{size}{era}"
    if precision == DECADE:
        return f"{size // 10 * 10}s{era}"
    if precision in (CENTURY, MILLENNIUM):
        # As Wikidata shows them: 1901 to 2000 is the 20th century.
        unit = 100 if precision == CENTURY else 1000
        return f"{_ordinal(-(-size // unit))} {PRECISIONS[precision]}{era}"
    return _ages(size, precision) + (era or " CE")


def as_julian(moment: Moment) -> Moment:
    """The Julian date of a day given in the (proleptic) Gregorian calendar.

    A day outside the years that Wikibase converts stands in RDF as it was entered, and stays so.
    """
    # Both calendars count from the same day number; a year starts in March, so that the leap day
    # is its last.
    shift = (14 - moment.month) // 12
    year = moment.year + 4800 - shift
    month = moment.month + 12 * shift - 3
    days = (
        moment.day + (153 * month + 2) // 5 + 365 * year + year // 4 - year // 100 + year // 400
    ) - 32045
    if days <= 0:
        return moment
    rest = days + 32082
    century_free = (4 * rest + 3) // 1461
    day_of_year = rest - 1461 * century_free // 4
    month = (5 * day_of_year + 2) // 153
    written = century_free - 4800 + month // 10
    if historical(written) not in JULIAN_YEARS:
        return moment
    return Moment(
        written,
        month + 3 - 12 * (month // 10),
        day_of_year - (153 * month + 2) // 5 + 1,
        moment.clock,
    )


def _day(moment: Moment) -> str:
    return f"{moment.day} {_MONTHS[moment.month - 1]}"


def _ordinal(number: int) -> str:
    if number % 100 in (11, 12, 13):
        return f"{number}th"
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th') }"


def _ages(size: int, precision: int) -> str:
    """Years in ten thousands to billions, rounded to the precision."""
    step = 10 ** (YEAR - precision)
    rounded = (size + step // 2) // step * step
    for unit, word in ((10**9, " billion"), (10**6, " million")):
        if step >= unit:
            return f"{rounded // unit}{word} years"
    return f"{rounded} years"
