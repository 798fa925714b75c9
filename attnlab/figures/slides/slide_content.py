"""The content of a slide as plain values: text, maps, arithmetic and bars. It does not depend on lessons."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from attnlab.base.text_marks import COVER
from attnlab.figures.map_data import MapData, Outline

if TYPE_CHECKING:
    from attnlab.figures.slides.lens_content import Chart, LensPicture


@dataclass(frozen=True, slots=True)
class Run:
    """A piece of text in one style; ``role`` colours it (query, key, value, attention), ``style`` is "", strong,
    italic, strong italic, muted, link, code, sup or sub.

    ``held`` is a number that a reveal uncovers: ``text`` takes exactly its width, and is "?" while it is covered. An
    ``aside`` is about other numbers than the present ones and steps back.
    """

    text: str
    role: str = ""
    style: str = ""
    held: str = ""
    aside: bool = False

    @property
    def covered(self) -> bool:
        """Whether the number is covered."""
        return bool(self.held) and self.text == COVER


Runs = tuple[Run, ...]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph of running text; ``mark`` precedes an item of a list: "•" or "1.".

    ``level`` is the depth of its indentation in quotes and nested lists. Without text and mark it is a rule.
    """

    runs: Runs
    mark: str = ""
    level: int = 0


@dataclass(frozen=True, slots=True)
class SlidePicture:
    """A picture as the bytes of a PNG or JPEG file, or a chart; and words that stand for it."""

    data: bytes
    alt: str
    chart: "Chart | None" = None


@dataclass(frozen=True, slots=True, eq=False)
class SlideMap:
    """Maps with their frames; the colour of a frame is the name of a role or "ink".

    ``marks`` are cells (map, row, column) that show a "?". ``square``: cells are about as wide as high, as in maps of
    token by token. ``formula`` is LaTeX, "" for none.
    """

    data: MapData
    title: str
    role: str
    outlines: tuple[Outline, ...] = ()
    strong: tuple[int | None, int | None] = (None, None)
    square: bool = True
    formula: str = ""
    marks: tuple[tuple[int, int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Bar:
    """One number of a row: ``text`` is written at its end; a value of None has no bar (masked, infinite).

    A number that is ``held`` is not known yet: ``text`` is "?", it has no bar, and its place is as wide as the number.
    """

    label: str
    value: float | None
    text: str
    faint: bool = False
    current: bool = False
    held: str = ""


@dataclass(frozen=True, slots=True)
class BarRow:
    """A row as bars from 0 to ``limit``, or from −limit to ``limit`` if its numbers are signed.

    A ``track`` behind each bar shows the limit, of which the numbers are parts: 1 for weights.
    """

    title: str
    bars: tuple[Bar, ...]
    role: str
    limit: float
    signed: bool = False
    track: bool = True


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the answers to choose from, with its votes, or None where nobody votes: on paper.

    ``right`` marks the right one, which is shown with the answer.
    """

    runs: Runs
    votes: int | None = None
    right: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class SlideContent:
    """The whole content of a slide.

    ``pictures`` stand beside the text. ``answer`` is the text after the reveal, whose place is kept until it is
    ``answered``. ``title_runs`` and ``ask_runs`` are the title and the question with their covered numbers, if they
    have any. ``arithmetic`` holds several forms of the same, the fullest first; the first that fits is written, unless
    it is ``arithmetic_covered``: then its place stays empty; a sum in progress has the type that fits
    ``arithmetic_end``, the sum of all terms. A ``pair`` of rows, one computed from the other, stands in
    place of the maps. ``side`` and ``table`` reserve space at the right and at the left, less for ``bars_only``,
    ``whole`` all space below the text, or right of it with ``beside``, for the ``picture`` of a lens or for a widget,
    less that for answers with ``side``; ``turned`` is how many words
    the picture has walked, None for all, and without ``labels`` it has none. ``done`` of ``count`` segments below are
    filled. ``keys`` are hints; the last ones are left out if they do not fit. ``prompt`` is the key to press, on a
    button. ``choices`` stand in cards above the foot. ``notes`` are printed below the slide, if wanted.
    """

    heading: str
    title: str
    text: tuple[Paragraph, ...] = ()
    ask: str = ""
    answer: tuple[Paragraph, ...] = ()
    pictures: tuple[SlidePicture, ...] = ()
    answered: bool = True
    title_runs: Runs = ()
    ask_runs: Runs = ()
    main: SlideMap | None = None
    sources: tuple[SlideMap, ...] = ()
    arithmetic: tuple[tuple[Runs, ...], ...] = ()
    arithmetic_covered: bool = False
    arithmetic_end: tuple[Runs, ...] = ()
    row: BarRow | None = None
    pair: tuple[BarRow, BarRow] | None = None
    side: bool = False
    bars_only: bool = False
    table: bool = False
    whole: bool = False
    beside: bool = False
    picture: "LensPicture | None" = None
    turned: float | None = None
    labels: bool = True
    done: int = 0
    count: int = 0
    keys: tuple[str, ...] = ()
    prompt: str = ""
    choices: tuple[Choice, ...] = ()
    note: str = ""
    notes: str = ""
