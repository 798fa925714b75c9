"""Why scale: the standard deviation of the scores and softmax's gradient against d_k, for random scores and the
experiment's."""

import math
from collections.abc import Hashable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from attnlab.attention.measures.saturation import SIZES, Pair, TraceSaturation, measure_random, measure_trace
from attnlab.attention.stages.arithmetic import number, short
from attnlab.ui.base.theme import px
from attnlab.ui.playground.lenses.lens import Lens, Runner
from attnlab.ui.playground.lenses.page import scrolling_column
from attnlab.ui.widgets.charts.curves import Curve, Curves
from attnlab.ui.widgets.fields.form_parts import pair
from attnlab.ui.widgets.fields.undo_fields import NumberBox
from attnlab.ui.widgets.layouts.side_by_side import SideBySide
from attnlab.ui.widgets.subscripts import FormulaLabel

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment
    from attnlab.attention.stages.trace import Trace
    from attnlab.document.document import View

LARGEST_SEED = 99_999
TICKS = tuple((float(d_k), str(d_k)) for d_k in SIZES)


class SaturationLens(Lens):
    """Two plots and a sentence; the experiment's points follow every edit."""

    name = "saturation"
    title = "Saturation"
    about = "What dividing the scores does to their standard deviation and softmax’s gradient"
    tab_order = 30

    def __init__(self, run: Runner, parent: QWidget | None = None) -> None:
        super().__init__(run, parent)
        self._wanted: tuple[str, int, int] | None = None
        self._random: tuple[Pair, ...] = ()
        self._own: TraceSaturation | None = None
        self._of: tuple[Trace, View] | None = None
        self.spread, self.gradient = Curves("Standard deviation of the scores"), Curves("Softmax gradient")
        column = scrolling_column(self)
        column.addLayout(self._make_controls())
        self.text = FormulaLabel()
        column.addWidget(self.text)
        column.addWidget(SideBySide(self.spread, self.gradient), 1)

    def _make_controls(self) -> QHBoxLayout:
        self._caption = QLabel("Random queries and keys, standard normal")
        self._caption.setProperty("role", "muted")
        self._caption.setWordWrap(True)
        self.seed = NumberBox()
        self.seed.setRange(0, LARGEST_SEED)
        self.seed.setValue(123)
        self.seed.setKeyboardTracking(False)
        self.seed.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.seed.setMinimumWidth(px(72))
        self.seed.setAccessibleName("Seed of the random queries and keys")
        self.seed.setToolTip("Another seed draws other random queries and keys")
        self.seed.valueChanged.connect(self._on_seed_changed)
        self.seed.refused.connect(self._on_refused)
        row = QHBoxLayout()
        row.addWidget(self._caption, 1)
        row.addWidget(pair(QLabel("seed"), self.seed, (0, 0)))
        return row

    def show_trace(self, trace: "Trace", view: "View") -> None:
        self._of = trace, view
        self._ask_for_random(trace.experiment.T_k)
        self.ask("own", partial(measure_trace, trace), latest="own")

    def show_view(self, view: "View") -> None:
        if self._of is not None:
            self._of = self._of[0], view
            self._show()

    def _ask_for_random(self, keys: int) -> None:
        wanted = ("random", keys, self.seed.value())
        if wanted != self._wanted:
            self._wanted = wanted
            self.ask(wanted, partial(measure_random, *wanted[1:]), latest="random")

    def on_result(self, key: Hashable, result: Any) -> None:
        if key == self._wanted:
            self._random = result
        elif isinstance(result, TraceSaturation):
            self._own = result
        self._show()

    def on_failed(self, key: Hashable, sentence: str) -> None:
        self.text.setText(sentence)

    def _show(self) -> None:
        if not self._random or self._own is None or self._of is None:
            return
        own, by = self._choose_pair(), _divisor_text(self._of[0].experiment)
        ticks = TICKS if own.d_k in SIZES else (*TICKS, (float(own.d_k), str(own.d_k)))
        root = Curve("√d_k", SIZES, [d_k**0.5 for d_k in SIZES], "muted", "dashed")
        labels: dict[str, Any] = {"x_label": "d_k", "log_x": True, "x_ticks": ticks}
        spread = [*_curves(self._random, own, by, "spread"), root]
        self.spread.show_curves(spread, y_label="standard deviation", log_y=True, **labels)
        self.gradient.show_curves(_curves(self._random, own, by, "gradient"), y_label="norm", **labels)
        self.text.setText(self._describe_spread(own, by))

    def _choose_pair(self) -> Pair:
        """Return the experiment's pair: of one head if only that is shown, else the mean."""
        assert self._own is not None
        assert self._of is not None
        head = self._of[1].head
        return self._own.heads[head] if isinstance(head, int) and head < len(self._own.heads) else self._own.mean

    def _describe_spread(self, own: Pair, by: str) -> str:
        assert self._own is not None
        assert self._of is not None
        head, last = self._of[1].head, self._random[-1]
        where = (
            "" if len(self._own.heads) == 1 else f", head {head}" if isinstance(head, int) else ", mean of the heads"
        )
        tried = "" if self._own.divided else " The experiment does not scale its scores."
        return (
            f"d_k = {own.d_k}{where}: the scores have standard deviation {_n(own.raw.spread)}, "
            f"÷ {by} {_n(own.scaled.spread)}. "
            f"A row’s gradient is {_n(own.raw.gradient)}, scaled {_n(own.scaled.gradient)}; "
            f"its largest weight is {_n(own.raw.largest)}, scaled {_n(own.scaled.largest)}.{tried}\n"
            f"Random scores at d_k = {last.d_k} have standard deviation {_n(last.raw.spread)} and gradient "
            f"{_n(last.raw.gradient)}; ÷ √d_k they have standard deviation {_n(last.scaled.spread)} and gradient "
            f"{_n(last.scaled.gradient)}."
        )

    @Slot()
    def _on_seed_changed(self) -> None:
        if self._of is not None:
            self._ask_for_random(self._of[0].experiment.T_k)

    @Slot(str)
    def _on_refused(self, sentence: str) -> None:
        self.text.setText(sentence)


def _curves(random: Sequence[Pair], own: Pair, by: str, what: str) -> list[Curve]:
    """Return the curves of a plot, with and without the scale."""
    made = []
    for which, role, name in (("raw", "key", ""), ("scaled", "query", " ÷ ")):
        values = [getattr(getattr(pair, which), what) for pair in random]
        made.append(Curve(f"random{name and name + '√d_k'}", SIZES, values, role))
        here = [getattr(getattr(own, which), what)]
        made.append(Curve(f"here{name and name + by}", [own.d_k], here, role, "points"))
    return made


def _divisor_text(e: "Experiment") -> str:
    scale = e.config.scale
    if not isinstance(scale, str):
        return short(scale)
    return "√d_model" if scale == "sqrt_d_model" else "√d_k"


def _n(value: float) -> str:
    """Return a value for a sentence: two decimals, or two significant digits below 0.1."""
    return (
        number(value)
        if not math.isfinite(value) or 0 < abs(value) < 1e-4
        else f"{value:.2{'f' if value >= 0.1 else 'g'}}"
    )
