"""The figures of the last computation in the bar below: the shape of the weights, the time, and the row sums."""

import math
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from attnlab.base.number_text import trim_exponent
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.themed import FollowsTheme, set_role

if TYPE_CHECKING:
    from attnlab.attention.stages.trace import Trace
    from attnlab.compute.service import Reply

TOLERANCE = {"float64": 1e-9, "float32": 1e-5, "bfloat16": 2e-2, "float16": 4e-3}
"""How far a sum of a row of weights may be from 1, for each precision."""
SPACING = 16
"""Pixels between two figures."""
WIDEST_MS = "888.88"
"""The time that the bar has room for: with another number of digits the rest of the bar would move."""


@guarded
class ComputationFigures(FollowsTheme, QWidget):
    """Shows the figures of a reply."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.shape, self.time, self.sums = QLabel(), QLabel(), QLabel()
        self._whole, self._is_brief, self._widest = "", False, ""
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(SPACING)  # only between labels that are shown
        for label in (self.shape, self.time, self.sums):
            label.setTextFormat(Qt.TextFormat.PlainText)
            row.addWidget(label)
        self.time.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        for label in (self.shape, self.time):
            label.setProperty("role", "muted")

    def show_reply(self, reply: "Reply", trace: "Trace") -> None:
        """Show shape, time and row sums of a reply and its trace."""
        self.shape.setText(str(list(trace["weights"].shape)))
        self.shape.setToolTip("heads, queries, keys")
        where = f"{reply.request.device} {reply.request.dtype}"
        self.time.setText(f"{reply.elapsed_ms:.2f} ms · {where}")
        self._widest = f"{WIDEST_MS} ms · {where}"
        self.restyle()
        self.time.setToolTip("The time of the mathematics alone, from the inputs to the output")
        self._show_sums(reply, trace)

    def restyle(self) -> None:
        """Keep room for the widest time in the size of type."""
        self.time.setMinimumWidth(self.time.fontMetrics().horizontalAdvance(self._widest))

    def _show_sums(self, reply: "Reply", trace: "Trace") -> None:
        good, reason = reply.largest_gap <= TOLERANCE[reply.request.dtype], ""
        empty = f" · {len(reply.empty_rows)} empty" if reply.empty_rows else ""
        if reply.warnings:
            text, good = "∞ or NaN", False
            self.sums.setToolTip("\n".join(reply.warnings))
        else:
            text = f"✓ rows sum to 1{empty}" if good else f"{_describe_sums(*reply.row_sums)}{empty}"
            reason = "" if good else _explain_sums(trace)
            gap = trim_exponent(f"{reply.largest_gap:.2g}").replace("-", "−")
            off = f"The row sum furthest from 1 is off by {gap}"
            self.sums.setToolTip(f"{off}: {reason}" if reason else off)
        self._whole = text
        self.sums.setAccessibleName(text)
        self._write_sums()
        set_role(self.sums, "good" if good else "muted" if reason else "error")

    def show_parts(self, *, sums: bool, others: bool, brief: bool) -> None:
        """Show the row sums, in a ``brief`` notation where a sentence has no room, and shape and time, or hide them."""
        self.sums.setVisible(sums)
        self._is_brief = brief
        self._write_sums()
        for label in (self.shape, self.time):
            label.setVisible(others)

    def measure_width(self, *, sums: bool, others: bool, brief: bool) -> int:
        """Return the width in pixels that these parts ask for."""
        wide = self.sums.fontMetrics().horizontalAdvance(self._word_sums(brief))
        widths = [wide] if sums else []
        if others:
            widths += [self.shape.sizeHint().width(), max(self.time.sizeHint().width(), self.time.minimumWidth())]
        return sum(widths) + SPACING * max(len(widths) - 1, 0)

    def _write_sums(self) -> None:
        self.sums.setText(self._word_sums(self._is_brief))

    def _word_sums(self, brief: bool) -> str:
        """Return the row sums in words, or briefly: "✓ Σ = 1"."""
        return self._whole.replace("rows sum to", "Σ =").replace("row sums", "Σ") if brief else self._whole


def _explain_sums(trace: "Trace") -> str:
    """Return which setting makes rows sum to something else than 1, "" if none does: then something is wrong."""
    from attnlab.attention.registries.features import FEATURES
    from attnlab.attention.registries.normalizers import NORMALIZERS

    config = trace.experiment.config
    if "zeroed" in trace.all_stages:  # weights set to 0 after the softmax
        return ""
    reasons = (
        (FEATURES["dropout"].on(config), "dropout drops weights and scales the others"),
        (FEATURES["sink"].on(config), "the sink takes a part of each row"),
        (
            NORMALIZERS[config.normalizer].alone,
            f"with {NORMALIZERS[config.normalizer].title} each weight is on its own",
        ),
    )
    return ", and ".join(reason for applies, reason in reasons if applies)


def _describe_sums(low: float, high: float) -> str:
    """Return the sums of rows that do not sum to 1."""
    if math.isnan(low + high):
        return "rows do not sum to 1"
    ends = [f"{end:.2f}".replace("-", "−") for end in (low, high)]
    return f"rows sum to {ends[0]}" if ends[0] == ends[1] else f"row sums {ends[0]} … {ends[1]}"
