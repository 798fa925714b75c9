"""The colours of attnlab: interface tones, roles, and the two colour maps."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

LEVELS = 255
"""Colour map entries are 0 … LEVELS - 1; entry LEVELS is transparent (a masked cell)."""

DARK_INK, LIGHT_INK = "#000000", "#FFFFFF"
"""Text on coloured cells: on every colour one of the two has a contrast of 4.5:1; a lighter dark would not."""


@dataclass(frozen=True, slots=True)
class Palette:
    """One theme's colours, as ``#RRGGBB``; role colours are for marks and lines, ``*_ink`` for text.

    ``cover`` is the colour of numbers that are asked for, with "?" in ``on_cover``.
    """

    name: str
    ground: str
    surface: str
    hairline: str
    ink: str
    muted: str
    accent: str
    on_accent: str
    control: str
    hatch: str
    good: str
    bad: str
    query: str
    key: str
    value: str
    attention: str
    neutral: str
    cover: str
    on_cover: str
    query_ink: str
    key_ink: str
    value_ink: str
    attention_ink: str
    diverging: tuple[str, str, str]
    sequential: tuple[str, ...]

    @property
    def aside(self) -> str:
        """The colour of a sentence that is about other numbers than the present ones: nearer to the ground, 3:1."""
        return mix(self.muted, self.ground, 1 - ASIDE)

    @property
    def card_edge(self) -> str:
        """The colour of the line around a card; "" where its surface differs from the ground."""
        return self.hairline if self.surface == self.ground else ""

    def make_paler(self, colour: str) -> str:
        """Return the colour of bars that step back, nearer to the surface; in high contrast still at 3:1."""
        return mix(colour, self.surface, 0.35 if self.card_edge else 0.5)

    @property
    def grey(self) -> tuple[str, str]:
        """The ends of the colours of muted cells."""
        return self.control, self.cover

    def role(self, role: str) -> str:
        """Return the mark colour of a role: query, key, value, attention or neutral."""
        return str(getattr(self, role))

    def role_ink(self, role: str) -> str:
        """Return the role's colour as text: at least 4.5:1 against surface and ground."""
        return self.muted if role == "neutral" else str(getattr(self, f"{role}_ink"))


ASIDE = 0.72
"""The share of the muted colour in that of an aside."""

LIGHT = Palette(
    name="light", ground="#F6F7F9", surface="#FFFFFF", hairline="#E3E7ED", ink="#1A1F27", muted="#5D6878",
    accent="#3B5BDB", on_accent="#FFFFFF", control="#EEF1F5", hatch="#CBD2DC", good="#087A55", bad="#B3261E",
    query="#0072B2", key="#D55E00", value="#009E73", attention="#7B4EA3", neutral="#5D6878",
    cover="#74808F", on_cover="#FFFFFF", query_ink="#0067A1", key_ink="#AD4C00", value_ink="#007A59",
    attention_ink="#7B4EA3", diverging=("#2F6DB0", "#F4F2F0", "#CC8444"),
    sequential=("#F6F2FA", "#D9CBEC", "#B594DA", "#8554B4", "#472180"),
)  # fmt: skip

DARK = Palette(
    name="dark", ground="#121419", surface="#1B1F26", hairline="#2B313B", ink="#E7EAEE", muted="#98A2B3",
    accent="#7C9BFF", on_accent="#10131A", control="#262B34", hatch="#3A4250", good="#3CC79B", bad="#FF8A80",
    query="#56B4E9", key="#F28C4B", value="#3CC79B", attention="#B98BE0", neutral="#98A2B3",
    cover="#74808F", on_cover="#FFFFFF", query_ink="#56B4E9", key_ink="#F28C4B", value_ink="#3CC79B",
    attention_ink="#B98BE0", diverging=("#3F86D0", "#2B2C30", "#B87436"),
    sequential=("#242030", "#40305C", "#66478F", "#9C72CB", "#DDBBFF"),
)  # fmt: skip

CONTRAST_LIGHT = Palette(
    name="contrast-light", ground="#FFFFFF", surface="#FFFFFF", hairline="#8A8A8A", ink="#000000", muted="#333333",
    accent="#0B3D91", on_accent="#FFFFFF", control="#EEF1F5", hatch="#8890A0", good="#00492E", bad="#8B0000",
    query="#004C8C", key="#A03800", value="#00664A", attention="#5A189A", neutral="#333333",
    cover="#4D5663", on_cover="#FFFFFF", query_ink="#00417A", key_ink="#7F2D00", value_ink="#00513A",
    attention_ink="#5A189A", diverging=("#0A4C96", "#EEEEEE", "#B35900"),
    sequential=("#F1EBF8", "#D3BDEB", "#A678D6", "#6B2FA8", "#35106B"),
)  # fmt: skip
"""For projectors that wash out colours: black on white, and strong colours."""

CONTRAST_DARK = Palette(
    name="contrast-dark", ground="#000000", surface="#000000", hairline="#6E6E6E", ink="#FFFFFF", muted="#D6D6D6",
    accent="#8CB4FF", on_accent="#000000", control="#1A1E26", hatch="#626D7E", good="#5BE3B0", bad="#FFA49C",
    query="#6CC6FF", key="#FFA366", value="#4FE0AE", attention="#D0A6FF", neutral="#D6D6D6",
    cover="#B4BDCA", on_cover="#000000", query_ink="#6CC6FF", key_ink="#FFA366", value_ink="#4FE0AE",
    attention_ink="#D0A6FF", diverging=("#4C9BF0", "#1F1F1F", "#E08A3C"),
    sequential=("#1C1230", "#45217A", "#7A48B8", "#B184E6", "#EBD9FF"),
)  # fmt: skip
"""For projectors that glare: white on black, and strong colours."""

PALETTES = {each.name: each for each in (LIGHT, DARK, CONTRAST_LIGHT, CONTRAST_DARK)}


def parse_rgb(colour: str) -> tuple[int, int, int]:
    """Return red, green and blue of ``#RRGGBB``, 0 to 255."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


@lru_cache(maxsize=512)
def mix(one: str, other: str, share: float) -> str:
    """Return the colour ``share`` of the way from one to the other."""
    channels = (round(a + (b - a) * share) for a, b in zip(parse_rgb(one), parse_rgb(other), strict=True))
    return "#{:02X}{:02X}{:02X}".format(*channels)


def compute_luminance(colour: str) -> float:
    """Return the relative luminance, 0 to 1, as WCAG 2 defines it."""
    channels = (c / 255 for c in parse_rgb(colour))
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def compute_contrast(one: str, other: str) -> float:
    """Return the contrast ratio, 1 to 21, as WCAG 2 defines it."""
    high, low = sorted((compute_luminance(one), compute_luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@lru_cache(maxsize=16)
def colour_map(name: str, palette: Palette) -> NDArray[np.uint32]:
    """Return 256 ARGB32 entries of the map ``"diverging"``, ``"sequential"`` or ``"grey"``; the last is transparent."""
    stops = np.array([parse_rgb(c) for c in getattr(palette, name)], dtype=np.float64)
    at = np.linspace(0, len(stops) - 1, LEVELS)
    channels = [np.interp(at, np.arange(len(stops)), stops[:, i]).round().astype(np.uint32) for i in range(3)]
    table = np.zeros(LEVELS + 1, dtype=np.uint32)
    table[:LEVELS] = 0xFF000000 | channels[0] << 16 | channels[1] << 8 | channels[2]
    table.flags.writeable = False
    return table


@lru_cache(maxsize=16)
def choose_dark_text(name: str, palette: Palette) -> NDArray[np.bool_]:
    """Return, for each colour map entry, whether dark text reads better on it than light text."""
    table = colour_map(name, palette)
    colours = [f"#{int(entry) & 0xFFFFFF:06X}" for entry in table]
    return np.array([compute_contrast(c, DARK_INK) >= compute_contrast(c, LIGHT_INK) for c in colours])
