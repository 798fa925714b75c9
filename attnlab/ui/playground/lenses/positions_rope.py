"""RoPE on the open experiment: one query and one key rotated to their positions, and to positions further on."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from attnlab.attention.registries.positions import POSITIONS
from attnlab.attention.registries.scores import SCORES
from attnlab.attention.stages.arithmetic import number
from attnlab.attention.stages.presence import source
from attnlab.attention.stages.trace import Trace
from attnlab.ui.playground.lenses.positions_parts import Card, Fields, sentence_label
from attnlab.ui.playground.lenses.positions_turns import Pair, Turns, TurnsPicture

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment

MOST_FURTHER = 1000
_SAME = 1e-6
"""Two scores are equal if they differ by less than this share of the larger one."""


@dataclass(frozen=True, slots=True)
class Rotated:
    """What the panel asks for: positions of the query and the key, how far both move on, the pair, and the head."""

    query: int
    key: int
    further: int
    pair: int
    head: int


@dataclass(frozen=True, slots=True)
class RopeResult:
    """The turns of the pairs, the tokens, and the score at both places."""

    turns: Turns
    tokens: tuple[str, str]
    scores: tuple[float, float]


def rotate_pair(e: "Experiment", asked: Rotated) -> RopeResult:
    """Return one query and one key of an experiment at their positions and further on, in float64."""
    scheme, score = POSITIONS[e.config.positions], SCORES[e.config.score]
    assert scheme.rotate is not None
    assert scheme.frequencies is not None
    trace = Trace(e, torch.device("cpu"), torch.float64)
    vectors = [
        trace[source(e, name)][asked.head, place]
        for name, place in (("rotated_queries", asked.query), ("rotated_keys", asked.key))
    ]
    length = max(asked.query, asked.key) + asked.further + 1
    p = trace.parameters(scheme)
    query, key = (scheme.rotate(vector.expand(1, length, -1), p)[0] for vector in vectors)
    places = ((asked.query, asked.key), (asked.query + asked.further, asked.key + asked.further))
    given = trace.parameters(score)
    scores = [float(score.apply(query[None, i : i + 1], key[None, j : j + 1], given)[0, 0, 0]) for i, j in places]
    half = e.d_k // 2
    rates = tuple(scheme.frequencies(e.d_k, p).tolist())
    first = [math.atan2(float(v[asked.pair + half]), float(v[asked.pair])) for v in vectors]
    turns = Turns(Pair(first[0], asked.query), Pair(first[1], asked.key), asked.further, rates, asked.pair)
    return RopeResult(turns, (e.tokens[asked.query], e.key_tokens[asked.key]), (scores[0], scores[1]))


class RopePanel(Card):
    """Shows that moving a query and a key along by the same distance turns both, and leaves the angle between them."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._experiment: Experiment | None = None
        self._head = 0
        self.title = sentence_label("The same distance is the same turn, wherever the two words are", "title")
        self.fields = Fields()
        self.query = self.fields.add("query at position", "query at", "The position of the query", (0, 0), 0)
        self.key = self.fields.add("key at position", "key at", "The position of the key", (0, 0), 0)
        about = f"How many positions both move on, 0 to {MOST_FURTHER}"
        self.further = self.fields.add("both moved on by", "both moved on by", about, (0, MOST_FURTHER), 3)
        self.pair = self.fields.add("pair of columns", "pair", "", (0, 0), 0)
        self.fields.changed.connect(self.changed)
        self.picture = TurnsPicture()
        self.picture.pair_clicked.connect(self.pair.setValue)
        self.told = sentence_label(role="strong")
        for widget in (self.title, self.fields, self.picture, self.told):
            self.column.addWidget(widget, int(widget is self.picture))

    def show_experiment(self, e: "Experiment | None", head: int | str) -> None:
        """Set the open experiment, None for one that rotates nothing."""
        is_first = self._experiment is None
        self._experiment, self._head = e, head if isinstance(head, int) else 0
        if e is None:
            return
        for box, most in ((self.query, e.T_q - 1), (self.key, e.T_k - 1), (self.pair, e.d_k // 2 - 1)):
            box.setMaximum(most)
        if is_first:
            self.query.setValue(min(2, e.T_q - 1))
        half = e.d_k // 2
        slower = "" if POSITIONS[e.config.positions].tables else "; later pairs turn more slowly"
        self.pair.setToolTip(f"Columns c and c + {half} are pair c, from 0 to {half - 1}{slower}")

    def show_head(self, head: int | str) -> None:
        """Take the query and the key from another head; "all" and "mean" take them from the first."""
        self._head = head if isinstance(head, int) else 0

    def find_asked(self) -> Rotated | None:
        """Return what to compute, None if nothing is rotated."""
        if self._experiment is None:
            return None
        places = self.query.value(), self.key.value(), self.further.value()
        return Rotated(*places, self.pair.value(), min(self._head, self._experiment.n_heads - 1))

    def show_result(self, result: RopeResult) -> None:
        """Show the turns and the scores."""
        self.picture.show_turns(result.turns, result.tokens)
        (one, other), further = result.scores, result.turns.further
        same = abs(one - other) <= _SAME * max(abs(one), abs(other), 1e-12)
        then = "only the distance counts." if same else "so with this score more than the distance counts."
        query, key = (f"“{token or '∅'}”" for token in result.tokens)
        score = f"Score of {query} and {key}: {number(one)}"
        self.told.setText(f"{score}. Both moved on by {further}: {number(other)}; {then}")
