"""The window of the help: the topics of the guide, the keys, a report and about, listed at the left."""

from PySide6.QtCore import Qt, QUrl, Slot
from PySide6.QtGui import (
    QColor,
    QDesktopServices,
    QGuiApplication,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFrameFormat,
    QTextLength,
    QTextTable,
    QTextTableCellFormat,
)
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QHBoxLayout,
    QListWidget,
    QPlainTextEdit,
    QPushButton,
    QTextBrowser,
    QVBoxLayout,
    QWidget,
)

from attnlab.base.fault_log import log_path
from attnlab.figures.slides.slide_markdown import read_document
from attnlab.ui.app import help_texts
from attnlab.ui.base.actions import ActionList
from attnlab.ui.base.lowered_text import lower_indices
from attnlab.ui.base.theme import font, px
from attnlab.ui.base.themed import FollowsTheme, palette_of

LEAST, WISHED = (420, 320), (920, 640)
"""The least and the wished size in pixels at 100 %."""


def open_help(window: QWidget, actions: ActionList, title: str) -> "HelpWindow":
    """Show the help at a topic by its title, "" for the first one."""
    there = [one for one in window.findChildren(HelpWindow) if one.isVisible()]  # a closed one is about to be deleted
    shown = there[0] if there else HelpWindow(actions, window)
    shown.show_topic(title)
    shown.show()
    shown.raise_()
    shown.activateWindow()
    return shown


class HelpWindow(FollowsTheme, QDialog):
    """Shows one topic at a time; it works without a network."""

    def __init__(self, actions: ActionList, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Help — attnlab")
        self._topics = (
            *help_texts.read_topics(),
            help_texts.write_keys(actions),
            help_texts.write_report(),
            help_texts.write_about(),
        )
        self._list = QListWidget()
        self._list.setAccessibleName("Topics")
        self._list.setFrameShape(QFrame.Shape.NoFrame)
        self._list.addItems([topic.title for topic in self._topics])
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._list.currentRowChanged.connect(self._on_row_changed)
        self.text = QTextBrowser()
        self.text.setFrameShape(QFrame.Shape.NoFrame)
        self.text.setProperty("page", True)
        self.text.setOpenLinks(False)
        self.log = QPlainTextEdit()
        self.log.setReadOnly(True)
        self.log.setAccessibleName("The end of the log of errors")
        self.copy_button = QPushButton("Copy for a report")
        self.copy_button.setToolTip("Copies the versions and the end of the log")
        self.copy_button.setAutoDefault(False)
        self.copy_button.clicked.connect(self._on_copy)
        self.folder_button = QPushButton("Show the folder of the log")
        self.folder_button.setAutoDefault(False)
        self.folder_button.clicked.connect(self._on_show_folder)
        self._lay_out()

    def _lay_out(self) -> None:
        side = QFrame()
        side.setProperty("ground", "left")
        beside = QVBoxLayout(side)
        beside.setContentsMargins(8, 12, 8, 12)
        beside.addWidget(self._list)
        self._side = side
        self.report = QWidget()
        self._below = QVBoxLayout(self.report)
        self._below.addWidget(self.log, 1)
        buttons = QHBoxLayout()
        for button in (self.copy_button, self.folder_button):
            buttons.addWidget(button)
        buttons.addStretch(1)
        self._below.addLayout(buttons)
        page = QFrame()
        page.setProperty("ground", "surface")
        self._column = QVBoxLayout(page)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.addWidget(self.text, 3)
        self._column.addWidget(self.report)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(side)
        row.addWidget(page, 1)

    def restyle(self) -> None:
        """Set the sizes and write the open topic anew."""
        parent = self.parentWidget()
        room = parent.window().size() if parent is not None else self.size()
        self._list.setFont(font("text"))
        widest = max(self._list.fontMetrics().horizontalAdvance(topic.title) for topic in self._topics)
        self._side.setFixedWidth(min(widest + px(52), room.width() * 2 // 5))
        self._below.setContentsMargins(px(24), px(8), px(24), px(16))
        self.setMinimumSize(min(px(LEAST[0]), room.width()), min(px(LEAST[1]), room.height()))
        self.resize(min(px(WISHED[0]), room.width()), min(px(WISHED[1]), room.height()))
        self._write()

    @property
    def topic(self) -> str:
        """The title of the open topic."""
        return self._topics[max(self._list.currentRow(), 0)].title

    def show_topic(self, title: str) -> None:
        """Open a topic by its title, "" for the first one."""
        titles = [topic.title for topic in self._topics]
        self._list.setCurrentRow(titles.index(title) if title in titles else 0)
        self._list.setFocus()

    @Slot(int)
    def _on_row_changed(self, row: int) -> None:
        self._write()

    def _write(self) -> None:
        topic, palette = self._topics[max(self._list.currentRow(), 0)], palette_of(self)
        document = read_document(topic.markdown, font("text"), has_tables=True)
        document.setParent(self.text)
        document.setDocumentMargin(px(24))
        _set_type(document)
        for frame in document.rootFrame().childFrames():
            if isinstance(frame, QTextTable):
                _style_table(frame, palette.hairline)
        lower_indices(document)
        self.text.setDocument(document)
        self.text.setAccessibleName(f"Help: {topic.title}")
        is_report = topic.title == "Report a problem"
        self.report.setVisible(is_report)
        if is_report:
            self.log.setPlainText(help_texts.read_log())
            has_log = bool(self.log.toPlainText())
            self.log.setVisible(has_log)
            self._column.setStretchFactor(self.report, 2 if has_log else 0)  # its buttons need no more than their line
            self.copy_button.setText("Copy for a report")

    @Slot()
    def _on_copy(self) -> None:
        QGuiApplication.clipboard().setText(help_texts.write_report_text())
        self.copy_button.setText("Copied")

    @Slot()
    def _on_show_folder(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(log_path().parent)))


def _set_type(document: QTextDocument) -> None:
    """Give headings the sizes of the program, and paragraphs the space between them."""
    block = document.begin()
    while block.isValid():
        level = block.blockFormat().headingLevel()
        if level:
            cursor = QTextCursor(block)
            cursor.select(QTextCursor.SelectionType.BlockUnderCursor)
            style = QTextCharFormat()
            style.setFont(font("title", 1.5 if level == 1 else 1.1))
            cursor.mergeCharFormat(style)
            around = QTextBlockFormat()
            around.setTopMargin(0 if level == 1 else px(14))
            around.setBottomMargin(px(6))
            cursor.mergeBlockFormat(around)
        elif QTextCursor(block).currentTable() is None:
            spaced = QTextBlockFormat()
            goes_on = block.textList() is not None and block.next().textList() is not None
            spaced.setBottomMargin(px(4 if goes_on else 10))
            spaced.setLineHeight(128, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
            QTextCursor(block).mergeBlockFormat(spaced)
        block = block.next()


def _style_table(table: QTextTable, colour: str) -> None:
    """Draw a table with lines between its rows only, as wide as the page."""
    style = table.format()
    style.setBorderCollapse(True)
    style.setBorder(0)
    style.setCellPadding(px(5))
    style.setCellSpacing(0)
    style.setWidth(QTextLength(QTextLength.Type.PercentageLength, 100))
    share = QTextLength.Type.PercentageLength
    style.setColumnWidthConstraints([QTextLength(share, 30), QTextLength(share, 70)])
    style.setTopMargin(px(4))
    style.setBottomMargin(px(8))
    table.setFormat(style)
    for row in range(table.rows()):
        for column in range(table.columns()):
            cell = table.cellAt(row, column)
            inside = QTextTableCellFormat(cell.format().toTableCellFormat())
            inside.setBottomBorder(1)
            inside.setBottomBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
            inside.setBottomBorderBrush(QColor(colour))
            cell.setFormat(inside)
