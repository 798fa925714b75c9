"""The keys that are written at the foot of a slide."""

from typing import TYPE_CHECKING

from attnlab.ui.present.lens_values import ROTATION

if TYPE_CHECKING:
    from attnlab.attention.stages.walk import Place
    from attnlab.lessons.slides import Slide

DEPTHS = ("stage", "row", "cell", "term")
PROMPT = "press → to reveal"
"""The words on the button when the next key reveals an answer."""
_NEXT = {"stage": "show it", "row": "next row", "cell": "next cell", "term": "next term"}
_AT_END = ("Home first step", "B black", "H help", "Esc leave")


def list_hints(
    slide: "Slide", place: "Place | None", choices: int, *, answered: bool, at_last: bool, walks: bool
) -> tuple[str, ...]:
    """Return the keys that matter on a slide at a frame, the most important first.

    ``choices`` are those to vote for; ``at_last`` says that all frames are shown, and ``walks`` that the next key
    turns the arrows of a lens.
    """
    rest = (*(("L labels",) if slide.step.lens == ROTATION else ()), "B black", "H help", "Esc leave")
    if walks:
        return ("→ next word", *rest)
    vote = (f"1–{choices} count a vote",) if choices and not answered else ()
    if at_last and not answered:
        return (*vote, *rest)
    if at_last and slide.index == slide.count - 1:
        return _AT_END
    depth = slide.step.depth if slide.step.depth in DEPTHS else "stage"
    shown = "show the rest" if depth in ("cell", "term") and slide.frames[-2:-1] == (place,) else _NEXT[depth]
    first = "→ next step" if at_last else f"→ {shown}"
    cover = ("← cover again",) if at_last and (slide.blanks or choices) else ()
    return (first, *vote, *cover, *rest)
