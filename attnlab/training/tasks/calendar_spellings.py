"""Dates in many spellings, written and parsed with the same patterns."""

import datetime
import random
import re

MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
FIRST, LAST = datetime.date(1950, 1, 1), datetime.date(2049, 12, 31)
"""A year of two digits is one of these: 50 to 99 are 1950 to 1999, 00 to 49 are 2000 to 2049."""

SPELLINGS = (
    "{d} {month} {yyyy}",
    "{month} {d}, {yyyy}",
    "{month} {d}{th}, {yyyy}",
    "{d}{th} of {month} {yyyy}",
    "the {d}{th} of {month}, {yyyy}",
    "{weekday}, {month} {d}, {yyyy}",
    "{weekday}, {d} {month} {yyyy}",
    "{weekday}, the {d}{th} of {month} {yyyy}",
    "{wkd} {d} {mon} {yyyy}",
    "{d} {mon} {yyyy}",
    "{mon} {d}, {yyyy}",
    "{d} {mon} '{yy}",
    "{dd}-{mon}-{yy}",
    "{yyyy} {month} {d}",
    "{m}/{d}/{yyyy}",
    "{m}/{d}/{yy}",
    "{d}.{m}.{yyyy}",
    "{d}.{m}.{yy}",
)
"""The spellings with slashes put the month first, those with dots the day."""

_SHAPES = {
    "d": r"(?P<d>\d{1,2})",
    "dd": r"(?P<d>\d{2})",
    "m": r"(?P<m>\d{1,2})",
    "yyyy": r"(?P<y>\d{4})",
    "yy": r"(?P<y>\d{2})",
    "th": "(?:st|nd|rd|th)",
    "month": f"(?P<m>{'|'.join(MONTHS)})",
    "mon": f"(?P<m>{'|'.join(month[:3] for month in MONTHS)})",
    "weekday": f"(?:{'|'.join(WEEKDAYS)})",
    "wkd": f"(?:{'|'.join(day[:3] for day in WEEKDAYS)})",
}


def spell(day: datetime.date, spelling: str) -> str:
    """Return a date in one of :data:`SPELLINGS`."""
    month, weekday = MONTHS[day.month - 1], WEEKDAYS[day.weekday()]
    return spelling.format(
        d=day.day,
        dd=f"{day.day:02}",
        th=_find_ending(day.day),
        m=day.month,
        month=month,
        mon=month[:3],
        weekday=weekday,
        wkd=weekday[:3],
        yyyy=day.year,
        yy=f"{day.year % 100:02}",
    )


def read(text: str) -> tuple[datetime.date, dict[str, tuple[int, int]]] | None:
    """Return the date in a text, and the spans of its year, month and day as "y", "m", "d"; None if it is no date.

    Weekdays and endings such as "rd" are not checked.
    """
    for pattern in _PATTERNS:
        found = pattern.fullmatch(text)
        if found:
            day = _make_day(found["y"], found["m"], found["d"])
            return (day, {name: found.span(name) for name in "ymd"}) if day and FIRST <= day <= LAST else None
    return None


def draw_day(g: random.Random) -> datetime.date:
    """Return a random date from FIRST to LAST."""
    return FIRST + datetime.timedelta(days=g.randrange((LAST - FIRST).days + 1))


def _make_day(year: str, month: str, day: str) -> datetime.date | None:
    whole = int(year) + (0 if len(year) == 4 else 1900 if int(year) >= FIRST.year % 100 else 2000)
    number = int(month) if month.isdecimal() else [name[:3] for name in MONTHS].index(month[:3]) + 1
    try:
        return datetime.date(whole, number, int(day))
    except ValueError:
        return None


def _find_ending(day: int) -> str:
    return "th" if 11 <= day <= 13 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")


def _compile(spelling: str) -> re.Pattern[str]:
    parts = re.split(r"\{(\w+)\}", spelling)  # alternately plain text and the name of a field
    return re.compile("".join(_SHAPES[part] if i % 2 else re.escape(part) for i, part in enumerate(parts)))


_PATTERNS = tuple(map(_compile, SPELLINGS))
