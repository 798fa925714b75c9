"""The answer, and the answer without what is switched off: predicted tokens, or the similarity of sentences."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QLabel, QPushButton

from attnlab.base.counted import format_percent
from attnlab.ui.base.theme import font
from attnlab.ui.models.model_card import ModelCard
from attnlab.ui.models.model_values import Effect, HeadChanges, Prediction
from attnlab.ui.widgets.charts.meter_list import Meter, MeterList
from attnlab.ui.widgets.fields.form_parts import make_wrapped_label
from attnlab.ui.widgets.fields.switch import Switch
from attnlab.ui.widgets.fields.undo_fields import TextField

AT_ONCE = 7
"""Predictions that are always seen without scrolling; a high card shows more."""
FIXED = "A capture has the attention of one text. To read another text, or to switch heads off, open the model itself."


class EffectCard(ModelCard):
    """Asks to switch the head that is looked at, and to write a predicted token."""

    switched = Signal(bool)
    token_chosen = Signal(int)
    wanted_changed = Signal(str)
    save_requested = Signal()

    def __init__(self) -> None:
        super().__init__("The answer", "neutral")
        self.switch = Switch("L0 H0")
        self.switch.setToolTip("Switch this head off, and see what becomes of the answer (Delete on the map)")
        self.switch.clicked.connect(lambda on: self.switched.emit(not on))
        self.head.addWidget(self.switch)
        self.sentence, self.legend = make_wrapped_label(""), make_wrapped_label("caption")
        self.sentence.setAccessibleName("What the answer is")
        for label in (self.sentence, self.legend):
            label.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.rank = make_wrapped_label("caption")
        self.rank.setAccessibleName("How much the answer needs this head")
        self.rank.hide()
        self.answers = MeterList("Predictions", most=AT_ONCE, grows=True)
        self.answers.meter_clicked.connect(self._on_answer_clicked)
        self.wanted = TextField()
        self.wanted.setPlaceholderText("Find a token")
        self.wanted.setAccessibleName("Find a token")
        self.wanted.setToolTip("List only tokens of the model with this in their names, the likeliest first")
        self.wanted.setClearButtonEnabled(True)
        self.wanted.textChanged.connect(self.wanted_changed)
        self.save = QPushButton("Save all…")
        self.save.setToolTip("Write the probability of every token, before and after, as a CSV file")
        self.save.clicked.connect(self.save_requested)
        self.moved_title = QLabel("Tokens that move most")
        self.moved_title.setProperty("role", "section")
        self.moved = MeterList("Tokens that move most", most=3)
        for widget in (self.sentence, self.rank, self.wanted, self.answers, self.legend, self.moved_title, self.moved):
            self.column.addWidget(widget, 100 if widget is self.answers else 0)
        self.column.addWidget(self.save, 0, Qt.AlignmentFlag.AlignLeft)
        self.column.addStretch(1)
        self.save.hide()
        self.wanted.hide()
        self._writes = False

    def restyle(self) -> None:
        """Keep room for two lines of each sentence, so that nothing moves when a head is switched off."""
        super().restyle()
        for label, face in ((self.sentence, "text"), (self.legend, "caption")):
            label.setMinimumHeight(2 * QFontMetrics(font(face)).lineSpacing())

    def show_switch(self, place: str, off: bool) -> None:
        """Show whether the head that is looked at is on."""
        self.switch.setAccessibleName(f"{place} on")
        self.switch.set_label(place)
        self.switch.setChecked(not off)

    def show_rank(self, changes: HeadChanges | None, layer: int, head: int) -> None:
        """Say the place of a head among all, by how much the answer changes without it; None says nothing."""
        self.rank.setVisible(changes is not None)
        if changes is None:
            return
        rank, count, size = changes.find_rank(layer, head), changes.sizes.size, changes.sizes[layer, head]
        which = "the largest" if rank == 1 else f"number {rank} by size"
        what = "the likeliest token’s probability" if changes.of.facts.predicts else "the cosine of the sentence"
        without = f"With only L{layer} H{head} off, {what} changes by {size:.3f}"
        self.rank.setText(f"{without}: {which} of all {count} heads.")

    def show_fixed(self, fixed: bool) -> None:
        """Say of a capture that it answers nothing, in place of an answer."""
        self.switch.setVisible(not fixed)
        if fixed:
            self.sentence.setText(FIXED)
            for widget in (self.answers, self.legend, self.save, self.wanted, self.moved_title, self.moved):
                widget.hide()
        else:
            self.answers.show()

    def show_effect(self, effect: Effect, predicts: str | None, mask: str | None = None) -> None:
        """Show an answer before and after; what is off counts together. ``mask`` is the token that hides a word."""
        changed = effect.state.is_changed
        self._writes = predicts == "next"
        for widget in (self.save, self.wanted):
            widget.setVisible(effect.prediction is not None)
        if effect.prediction is not None:
            self._show_prediction(effect.prediction, predicts, changed, mask)
        else:
            self._show_similar(effect, changed)
        moved = effect.moved if changed and effect.prediction is None else ()
        most = max((share for _, share in moved), default=0.0) or 1.0
        self.moved.show_meters([Meter(t, d / most, f"{d:.2g}") for t, d in moved], "neutral")
        self.moved.setVisible(bool(moved))
        self.moved_title.setVisible(bool(moved))

    def _show_prediction(self, found: Prediction, predicts: str | None, changed: bool, mask: str | None) -> None:
        before, after = found.before, found.after
        what = f"After “{found.place.strip()}”" if predicts == "next" else f"In place of “{found.place.strip()}”"
        share, now = (format_percent(each) for each in (before[1], after[2]))
        if not changed:
            said = f"{what}: “{before[0].strip()}”, {share}."
        elif before[0] == after[0]:
            said = f"{what}: still “{before[0].strip()}”, {share} → {now}."
        else:
            said = f"{what}: “{before[0].strip()}” {share} becomes “{after[0].strip()}” {now}."
        self.sentence.setText(said)
        self.answers.setAccessibleName("Predictions")
        self.answers.show_meters([self._make(row, changed, row == after) for row in found.rows])
        tick = "The tick is the probability with everything on. " if changed else ""
        if not found.rows:
            tick = "No token of the model has this in its name."
        hint = "Click a token to write it." if self._writes and found.rows else ""
        if predicts == "masked" and mask is not None and found.place != mask:
            hint = f"Write {mask} in place of a word, and the model predicts it."
        self.legend.setText(tick + hint)
        self.legend.show()

    @staticmethod
    def _make(row: tuple[str, float, float], changed: bool, best: bool) -> Meter:
        token, before, after = row
        text = f"{before:.3f} → {after:.3f}" if changed else f"{before:.3f}"
        spoken = f"{before:.4f}" + (f", now {after:.4f}" if changed else "")
        return Meter(token or "∅", after if changed else before, text, before if changed else -1.0, best, spoken)

    def _show_similar(self, effect: Effect, changed: bool) -> None:
        self.sentence.setText(
            f"{effect.same:.3f} is the cosine of the sentence’s vector (the mean of its tokens) with and without it."
            if changed
            else "Switch a head off to see how far the sentence’s vector moves."
        )
        self.answers.setAccessibleName("Similar to")
        self.answers.show_meters([self._compare(row, changed) for row in effect.similar], above=True)
        self.legend.setText("Cosine with other texts" + ("; the tick is that with everything on." if changed else "."))
        self.legend.setVisible(bool(effect.similar))

    @staticmethod
    def _compare(row: tuple[str, float, float], changed: bool) -> Meter:
        text, before, after = row
        written = f"{before:.2f} → {after:.2f}" if changed else f"{before:.2f}"
        return Meter(text, max(after, 0.0), written, max(before, 0.0) if changed else -1.0)

    def _on_answer_clicked(self, place: int) -> None:
        if self._writes:
            self.token_chosen.emit(place)
