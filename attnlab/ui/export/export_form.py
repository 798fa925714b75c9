"""The settings of a figure: stages, size, title and labels, colours, and file format."""

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QCheckBox, QMenu, QWidget

from attnlab.base.errors import AttnlabError
from attnlab.base.number_text import NumberError, parse_number
from attnlab.figures.figure_formats import FIGURES
from attnlab.figures.panels.figure_colours import MAPS
from attnlab.figures.panels.figure_source import Sheets, Source, count_heads
from attnlab.figures.panels.figure_spec import DECIMALS, FigureSpec
from attnlab.figures.scales import SCALES
from attnlab.ui.export.figure_choices import FORMATS
from attnlab.ui.export.file_name import make_slug
from attnlab.ui.widgets.fields.elided_field import ElidedField
from attnlab.ui.widgets.fields.form_parts import combo, pair
from attnlab.ui.widgets.fields.form_style import DIALOG
from attnlab.ui.widgets.fields.menu_field import MenuField
from attnlab.ui.widgets.fields.option_fields import OptionFields
from attnlab.ui.widgets.fields.undo_fields import TextField

PRESETS: tuple[tuple[str, str, str, str], ...] = (
    ("One column", "85", "", "7.5"),
    ("Two columns", "170", "", "7.5"),
    ("Slide, 16:9", "338.7", "190.5", "18"),
)
"""Titles, width and height in millimetres, and font size in points: the usual sizes of journals, and a slide."""
CANVAS = "canvas"


class ExportForm(OptionFields):
    """The fields; ``spec`` returns the figure that they describe. ``changed`` is emitted after each change."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, DIALOG)
        self._stages: tuple[str, ...] = ("weights",)
        self._named_after = self._suggested = ""
        self._titled: frozenset[str] = frozenset()
        """The sheets whose maps have names of their own; they are not the heads of a layer, and none can be chosen."""
        self.what = MenuField()
        self.menu = QMenu(self.what)
        self.what.setMenu(self.menu)
        self.what.setAutoDefault(False)
        self.heads = combo(())
        self.heads.currentIndexChanged.connect(self._on_head_chosen)
        self.preset = combo([("Own size", ""), *((title, title) for title, *_ in PRESETS)])
        self.width_mm, self.height_mm, self.dpi, self.font_pt = (TextField() for _ in range(4))
        self.height_mm.setPlaceholderText("as needed")
        self.width_mm.setPlaceholderText("usual")
        self.title = ElidedField()
        self.titled, self.labels, self.colour_bar = (QCheckBox(name) for name in ("Title", "Labels", "Colour bar"))
        self.numbers = combo([("Auto", "auto"), ("Small too", "on"), ("None", "off")])
        counted = [(f"{n} decimals" if n != 1 else "1 decimal", n) for n in range(DECIMALS[0], DECIMALS[1] + 1)]
        self.decimals = combo([("As fits", None), *counted])
        self.colours = combo([(each.title, each.name) for each in MAPS])
        self.scale = combo([(title, name) for name, title in SCALES.items()])
        self.each_head, self.mute_sinks = QCheckBox("For each head"), QCheckBox("Mute sinks")
        self.ground = combo([("Light", "light"), ("Dark", "dark"), ("Transparent", "transparent")])
        self.format = combo([(title, ending) for ending, title in FORMATS.items()])
        self.name = ElidedField()
        self._lay_out()
        self._connect()

    @property
    def stages(self) -> tuple[str, ...]:
        """The chosen stages, in their order; (CANVAS,) for the whole canvas."""
        return self._stages

    @property
    def ending(self) -> str:
        """The file format, one of ``FORMATS``: png, csv, …"""
        return str(self.format.currentData())

    @property
    def is_figure(self) -> bool:
        """Whether the format is that of a figure, not of a table."""
        return f".{self.ending}" in FIGURES

    def read_spec(self) -> FigureSpec:
        """Return the figure that the fields describe.

        Raises:
            AttnlabError: the value of a field cannot be drawn; the sentence names the field.
        """
        canvas = self._stages == (CANVAS,)
        return FigureSpec(
            stages=() if canvas else self._stages,
            canvas=canvas,
            head=self.heads.currentData() if self.heads.count() and not self._has_titles() else "all",
            width_mm=_read_number(self.width_mm, "Width"),
            height_mm=_read_number(self.height_mm, "Height"),
            dpi=_read_whole(self.dpi, "Dots per inch"),
            title="" if not self.titled.isChecked() else " ".join(self.title.text().split()) or None,
            labels=self.labels.isChecked(),
            numbers=self.numbers.currentData(),
            decimals=self.decimals.currentData(),
            colour_bar=self.colour_bar.isChecked(),
            colour_map=self.colours.currentData(),
            font_pt=_read_number(self.font_pt, "Size of type") or FigureSpec().font_pt,
            ground=self.ground.currentData(),
            scale=self.scale.currentData(),
            each_head=self.each_head.isChecked(),
            mute_sinks=self.mute_sinks.isChecked(),
        )

    def show_spec(self, spec: FigureSpec, ending: str) -> None:
        """Show the settings of a figure and its file format; ``show_source`` sets stages and heads."""
        self.blockSignals(True)
        self.width_mm.setText(_format_number(spec.width_mm))
        self.height_mm.setText(_format_number(spec.height_mm))
        self.dpi.setText(str(spec.dpi))
        self.font_pt.setText(_format_number(spec.font_pt))
        self.titled.setChecked(spec.title != "")
        self.labels.setChecked(spec.labels)
        self.colour_bar.setChecked(spec.colour_bar)
        self.each_head.setChecked(spec.each_head)
        self.mute_sinks.setChecked(spec.mute_sinks)
        for box, value in (
            (self.numbers, spec.numbers),
            (self.decimals, spec.decimals),
            (self.colours, spec.colour_map),
            (self.scale, spec.scale),
            (self.ground, spec.ground),
            (self.format, ending),
        ):
            box.setCurrentIndex(max(box.findData(value), 0))
        self.blockSignals(False)
        self._on_changed()

    def show_source(
        self, source: Source, stage: str, head: int | str, *, held: bool = False, named_after: str = ""
    ) -> None:
        """List the stages and heads of a source and select the given ones; mark a held head.

        The name of the file begins with ``named_after``, or without it with the heading of sheets.
        """
        self.blockSignals(True)
        self._named_after = make_slug(named_after)
        self._titled = frozenset()
        self.menu.clear()
        for name in source.all_stages:
            self._offer(source.stage(name).title, name)
        if isinstance(source, Sheets):
            self._named_after = self._named_after or make_slug(source.heading)
            self._what.setText(source.what)
            self.what.setAccessibleName(source.what)
            self.what.setToolTip("What to draw: one or several")
            self.title.setPlaceholderText(source.heading)
            self._titled = frozenset(sheet.name for sheet in source.sheets if sheet.titles)
        else:
            self.menu.addSeparator()
            self._offer("The whole canvas", CANVAS)
        self.heads.clear()
        n_heads = _count_choices(source)
        for title, value in (("All", "all"), ("Mean", "mean"), *((f"Head {i}", i) for i in range(n_heads))):
            self.heads.addItem(f"{title} (held)" if held and value == head else title, value)
        self.heads.setCurrentIndex(max(self.heads.findData(head), 0))
        self.choose((stage,))
        self.blockSignals(False)
        self._on_changed()

    def choose(self, stages: tuple[str, ...]) -> None:
        """Select one or more stages, or (CANVAS,)."""
        actions = {action.data(): action for action in self.menu.actions() if action.data()}
        self._stages = stages if CANVAS in stages else tuple(name for name in actions if name in stages)
        for name, action in actions.items():
            action.setChecked(name in self._stages)
        titles = [actions[name].text() for name in self._stages]
        self.what.setText(titles[0] if len(titles) == 1 else f"{titles[0]} and {len(titles) - 1} more")
        self.heads.setEnabled(self.heads.findData(1) >= 0 and not self._has_titles())
        self._suggested = self._suggest_name()
        self.name.setText(self._suggested)
        self._on_changed()

    def _has_titles(self) -> bool:
        return bool(self._titled.intersection(self._stages))

    def _suggest_name(self) -> str:
        if not self._named_after:
            return "-".join(self._stages)
        of_all = len(self._stages) > 1 and len(self._stages) == len(self.menu.actions())
        head = self.heads.currentData()
        heads = [f"head-{head}"] if isinstance(head, int) and self.heads.isEnabled() else []
        return "-".join([self._named_after, *(() if of_all else map(make_slug, self._stages)), *heads])

    @Slot()
    def _on_head_chosen(self) -> None:
        """Name the file after the head, unless the user has named it."""
        if self.name.text() == self._suggested:
            self._suggested = self._suggest_name()
            self.name.setText(self._suggested)

    def _offer(self, title: str, name: str) -> None:
        action = self.menu.addAction(title)
        action.setCheckable(True)
        action.setData(name)
        action.triggered.connect(lambda on: self._on_stage(name, on))

    def _on_stage(self, name: str, on: bool) -> None:
        """Add or remove a stage; the last one cannot be removed, and the canvas cannot be combined with stages."""
        others = tuple(other for other in self._stages if other not in (name, CANVAS))
        self.choose((CANVAS,) if name == CANVAS else (*others, name) if on else others or (name,))

    def _lay_out(self) -> None:
        self.decimals.setAccessibleName("Decimals")
        self.width_mm.setAccessibleName("Width, mm")
        self.height_mm.setAccessibleName("Height, mm")
        self.title.setAccessibleName("Title")
        self.title.setPlaceholderText("as the stage")
        rows: tuple[tuple[str, QWidget, str], ...] = (
            ("Stages", self.what, "What to draw: one stage, several below one another, or the whole canvas"),
            ("Heads", self.heads, "All heads as small maps, one head, or their mean"),
            ("Size", self.preset, "The usual widths of figures in papers, or a slide"),
            (
                "Millimetres",
                pair(self.width_mm, self.height_mm, (1, 1)),
                "Width and height, from 20 to 1000 mm; empty for a width of 120, or 170 with several maps, and for "
                "as much height as the maps need",
            ),
            ("Dots per inch", self.dpi, "From 30 to 2400; the resolution of a PNG"),
            ("Type, points", self.font_pt, "The font size of labels"),
            (
                "",
                pair(self.titled, self.title, (0, 2)),
                "The text above the figure; empty for the name of the stage",
            ),
            ("", pair(self.labels, self.colour_bar, (0, 2)), "Tokens and names of axes; the scale of the colours"),
            (
                "Numbers",
                pair(self.numbers, self.decimals),
                "Numbers in the cells, where legible or also when very small, and how many decimals they have",
            ),
            (
                "Colours",
                self.colours,
                "All are safe for colour-blind readers; the first five also in greyscale print",
            ),
            ("Scale", self.scale, "The number that the last colour stands for, and how colours grow up to it"),
            (
                "",
                pair(self.each_head, self.mute_sinks),
                "A scale for each head; grey columns, outside the scale, for the first token and separators",
            ),
            ("Background", self.ground, "The colour behind the figure"),
            ("Format", self.format, "PNG contains pixels; SVG and PDF contain text and shapes; tables contain numbers"),
            ("File name", self.name, "The ending depends on the format"),
        )
        self._what, *_ = (self.add_widget(*row) for row in rows)

    def _connect(self) -> None:
        for field in (self.width_mm, self.height_mm, self.dpi, self.font_pt, self.title, self.name):
            field.textChanged.connect(self._on_changed)
        for box in (self.heads, self.numbers, self.decimals, self.colours, self.scale, self.ground, self.format):
            box.currentIndexChanged.connect(self._on_changed)
        for check in (self.titled, self.labels, self.colour_bar, self.each_head, self.mute_sinks):
            check.toggled.connect(self._on_changed)
        self.preset.activated.connect(self._on_size)

    @Slot()
    def _on_size(self) -> None:
        for title, width, height, font in PRESETS:
            if title == self.preset.currentData():
                self.blockSignals(True)
                for field, text in ((self.width_mm, width), (self.height_mm, height), (self.font_pt, font)):
                    field.setText(text)
                self.blockSignals(False)
        self._on_changed()

    @Slot()
    def _on_changed(self) -> None:
        now = self.width_mm.text(), self.height_mm.text(), self.font_pt.text()
        found = [title for title, *values in PRESETS if tuple(values) == now]
        self.preset.setCurrentIndex(max(self.preset.findData(found[0]), 0) if found else 0)
        drawn = (self.preset, self.width_mm, self.height_mm, self.dpi, self.font_pt, self.titled, self.title)
        colours = (self.colour_bar, self.colours, self.scale, self.each_head, self.mute_sinks, self.ground)
        for field in (*drawn, *colours, self.labels, self.numbers, self.decimals):
            field.setEnabled(self.is_figure)
        self.title.setEnabled(self.is_figure and self.titled.isChecked())
        self.decimals.setEnabled(self.is_figure and self.numbers.currentData() != "off")
        self.changed.emit()


def _count_choices(source: Source) -> int:
    """Return how many heads there are to choose from in any stage."""
    if isinstance(source, Sheets):
        return max((len(sheet.values) for sheet in source.sheets if not sheet.titles), default=1)
    return count_heads(source)


def _read_number(field: TextField, name: str) -> float | None:
    if not field.text().strip():
        return None
    try:
        return parse_number(field.text())
    except NumberError as error:
        raise AttnlabError(f"{name}: {error}.") from None


def _read_whole(field: TextField, name: str) -> int:
    value = _read_number(field, name)
    if value is None or value != int(value):
        raise AttnlabError(f"{name}: “{field.text()}” is not a whole number, such as 300.")
    return int(value)


def _format_number(value: float | None) -> str:
    return "" if value is None else f"{value:g}"
