"""What a model answers, above its diagram: a column per place with its first and second choice."""

from collections.abc import Sequence

from attnlab.base.counted import PERCENT, format_percent
from attnlab.figures.diagram.scene import Box, Label, Measure, Region, Scene, Sign, Stroke, shorten
from attnlab.training.model_view import Guess

LEAST_COLUMN, MOST_NEEDED = 27.0, 54.0
"""The least width of a column, and the most that a long token asks for."""
ROOMY = 40.0
"""From this width on, a column has its usual spaces."""
HEIGHT = 92.0
"""The height of the answers."""
_SEEN = {" ": "␣", "\n": "↵", "\t": "⇥"}


def percent(share: float, tight: bool = False) -> str:
    """Return a share of 0 to 1 in per cent, without decimals; ``tight`` leaves out the space."""
    told = format_percent(share, 0)
    return told.replace(PERCENT, "%") if tight else told


def measure_column(guesses: Sequence[Guess], measure: Measure) -> float:
    """Return the least width of a column: where no answer is right or wrong, its tokens are legible."""
    if not guesses or any(guess.right is not None for guess in guesses):
        return LEAST_COLUMN
    widest = max(measure(_show(guess), "token") for guess in guesses)
    return max(LEAST_COLUMN, min(widest + 6, MOST_NEEDED))


def choose_asked(guesses: Sequence[Guess], width: float, least: float = LEAST_COLUMN) -> list[int]:
    """Return the places that are drawn: those with a right answer, or all; as many of the last as have room."""
    asked = [i for i, guess in enumerate(guesses) if guess.wanted] or list(range(len(guesses)))
    return asked[-max(1, int(width // least)) :]


def describe_answers(guesses: Sequence[Guess], width: float, least: float = LEAST_COLUMN) -> str:
    """Return how many answers are right, and of how many places the last ones are drawn."""
    said = [guess.right for guess in guesses if guess.right is not None]
    whole, drawn = sum(1 for guess in guesses if guess.wanted) or len(guesses), len(choose_asked(guesses, width, least))
    parts = [f"{sum(said)} of {len(said)} right"] if said else []
    if drawn < whole:
        parts.append(f"the last {drawn} of {whole} positions")
    return ", ".join(parts)


def draw_answers(
    scene: Scene,
    guesses: Sequence[Guess],
    x: float,
    y: float,
    width: float,
    measure: Measure,
    middles: Sequence[float],
    least: float = LEAST_COLUMN,
) -> None:
    """Draw the answers in a width with their tops at y; ``middles`` are those of the inputs if each has its own."""
    asked = choose_asked(guesses, width, least)
    slot = width / len(asked)
    own = len(middles) == len(guesses) == len(asked)
    widest = max(measure(_show(guesses[i]), "token") + _measure_mark(guesses[i], slot) for i in asked)
    side = min(slot - 6, max(56.0 if slot < 120 else 110.0, widest))
    face = "token" if widest <= side else "strong"
    for at, index in enumerate(asked):
        middle = middles[index] if own else x + slot * (at + 0.5)
        _draw_column(scene, guesses[index], middle, y, slot, side, face, measure, index)


def _show(guess: Guess) -> str:
    first = guess.likeliest[0][0]
    return _SEEN.get(first, first)


def _measure_mark(guess: Guess, slot: float) -> float:
    """Return the room of the tick or cross beside a token."""
    return 0.0 if guess.right is None else 11.0 if slot < ROOMY else 18.0


def _draw_column(
    scene: Scene,
    guess: Guess,
    middle: float,
    y: float,
    slot: float,
    side: float,
    large: str,
    measure: Measure,
    index: int,
) -> None:
    left, tight = middle - side / 2, slot < ROOMY
    (first, share), *rest = guess.likeliest
    right = guess.right
    ink = "muted" if right is None else "good" if right else "bad"
    token = shorten(_show(guess), large, side - _measure_mark(guess, slot), measure)
    scene.add(Label(left, y + 9, token or "…", large, "ink"))
    if right is not None:
        size = 11.0 if tight else 14.0
        scene.add(Sign(left + side - size / 2, y + 9, "tick" if right else "cross", ink, size))
    scene.add(
        Box((left, y + 22, side, 5), "control", "", 2.5), Box((left, y + 22, max(side * share, 2), 5), ink, "", 2.5)
    )
    scene.add(Label(left, y + 38, percent(share, tight), "strong", "ink"))
    below, good = (guess.wanted, guess.chance), True
    if right is not False:
        below, good = (rest[0] if rest else ("", 0.0)), False
    if below[0]:
        face = "strong" if good else "caption"
        shown = _SEEN.get(below[0], below[0])
        text = f"{shown} {percent(below[1], tight)}"
        text = text if measure(text, face) <= slot - 3 else shorten(shown, face, slot - 3, measure)
        scene.add(Label(left, y + 53, text, face, "good" if good else "muted"))
    scene.add(Stroke(((middle, y + 80), (middle, y + 66)), arrow=True))
    said = "" if right is None else ", right" if right else f", wrong, {guess.wanted} is right"
    spoken = f"Place {index + 1}: {first} {percent(share)}{said}"
    tip = "\n".join(f"{token}  {percent(part)}" for token, part in guess.likeliest)
    scene.regions.append(Region(f"answer {index}", (left - 2, y - 2, side + 4, 64), spoken, tip, 6))
