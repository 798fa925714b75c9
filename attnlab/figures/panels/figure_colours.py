"""The colour maps of figures: the program's own first, then those that are usual in journals."""

from dataclasses import dataclass, replace
from typing import cast

from attnlab.figures.palette import DARK, LIGHT, Palette

OWN = "attnlab"


@dataclass(frozen=True, slots=True)
class ColourMap:
    """A colour map as colours at equal distances; ``signed`` ones diverge from their middle, which means 0.

    ``grey_safe`` maps keep their order when printed in grey; of a diverging map only each half does.
    """

    name: str
    title: str
    signed: bool
    stops: tuple[str, ...]


def _parse_stops(text: str) -> tuple[str, ...]:
    return tuple(f"#{colour}" for colour in text.split())


# viridis and magma: Nathaniel Smith and Stéfan van der Walt, CC0 (bids.github.io/colormap).
_VIRIDIS = _parse_stops(
    "440154 470D60 48186A 482374 472D7B 453681 424086 3F4989 3B528B 375A8D 33638D 2F6A8E 2C728E 297A8E "
    "26818E 23898E 21908C 1F988B 1F9F88 21A685 28AE80 31B57B 3EBC74 4CC26C 5DC963 6ECE58 82D34C 96D83F "
    "ABDC32 C0DF24 D5E21A EAE51A FDE725"
)
_MAGMA = _parse_stops(
    "000004 030311 0A0822 130D33 1D1146 28115A 36106A 430F76 50127C 5D177F 691C81 762181 822681 8F2A81 "
    "9C2E7F A9327D B63779 C33B75 CF4170 DB486A E65163 EE5C5E F5695C F9785D FB8761 FD9668 FEA571 FEB47B "
    "FEC387 FED194 FDE0A2 FCEEB0 FCFDBF"
)
# cividis: Nuñez, Anderton and Renslow, "Optimizing colormaps with consideration for color vision deficiency", PLoS ONE
# 13 (2018), under the BSD 2-clause licence.
_CIVIDIS = _parse_stops(
    "00224E 00285B 002E6A 043371 1A386F 273E6E 32436D 3B496C 434E6C 4B546C 52596D 5A5F6E 61656F 686A71 "
    "6F7073 757676 7C7B78 848179 8B8778 938D78 9B9376 A39A75 ABA072 B3A670 BBAD6C C3B469 CCBA64 D4C15F "
    "DDC958 E6D051 EFD748 F8DF3C FEE838"
)
# vik: Fabio Crameri, "Scientific colour maps" 8.0, doi:10.5281/zenodo.1243862, under the MIT licence.
_VIK = _parse_stops(
    "001261 021F69 022B71 023779 034481 045089 0C5E92 1B6D9B 2F7CA6 478DB1 609DBC 79ADC7 92BDD2 ACCCDC "
    "C5DBE5 DCE5E9 ECE5E1 EEDACF E9CBB9 E2BBA4 DCAB8F D59C7B CF8E68 C97F55 C37243 BC6331 B3531F A5400E "
    "932E06 832106 741506 660A07 590008"
)
# RdBu, reversed so that blue is negative: Cynthia Brewer, ColorBrewer 2.0 (colorbrewer2.org), Apache licence 2.0.
_RDBU = _parse_stops("67001F B2182B D6604D F4A582 FDDBC7 F7F7F7 D1E5F0 92C5DE 4393C3 2166AC 053061")[::-1]
_GREYS = ("#FFFFFF", "#000000")

MAPS: tuple[ColourMap, ...] = (
    ColourMap(OWN, "attnlab", False, ()),
    ColourMap("viridis", "Viridis", False, _VIRIDIS),
    ColourMap("cividis", "Cividis", False, _CIVIDIS),
    ColourMap("magma", "Magma", False, _MAGMA),
    ColourMap("greys", "Greys", False, _GREYS),
    ColourMap("vik", "Vik, for signed numbers", True, _VIK),
    ColourMap("rdbu", "Red and blue, for signed numbers", True, _RDBU),
)
"""All are safe for colour-blind readers, and all but the diverging ones for printing without colours."""

BY_NAME = {each.name: each for each in MAPS}


def make_palette(name: str, *, dark: bool = False) -> Palette:
    """Return the palette of a figure with a colour map.

    A sequential map colours probabilities, a diverging one signed numbers. The other kind of numbers keeps the
    program's own map, because a sequential map would hide where 0 is.
    """
    base, chosen = DARK if dark else LIGHT, BY_NAME[name]
    if not chosen.stops:
        return base
    if chosen.signed:
        return replace(base, diverging=cast("tuple[str, str, str]", chosen.stops))
    return replace(base, sequential=chosen.stops)
