"""Which dates Wikibase converts from the Julian calendar to the Gregorian one for RDF."""

from __future__ import annotations

from typing import Final

JULIAN_YEARS: Final = range(-4713, 1465073)
"""Years without a year 0. A date outside, or day 0 of the count of Julian days (1 January 4713
BCE), stands in RDF as it was entered."""
