"""An untrusted lesson is plain text: no pictures of other files, no links, and no markup in tokens."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage, QTextDocument
from PySide6.QtWidgets import QApplication, QLabel, QWidget

from attnlab.ui.lessons.markdown_label import MarkdownLabel
from attnlab.ui.lessons.row_list import RowList
from attnlab.ui.workspaces.lessons import LESSONS

if TYPE_CHECKING:
    from tests.ui.conftest import Person

RED = 0xFFFF0000
IMAGE = "<img src='IMAGE'>"
LESSON = f"""---
title: Title {IMAGE}
about: About {IMAGE}
covers: ["{IMAGE}"]
sources: ["Source {IMAGE}"]
---

## Step {IMAGE}

```state
preset: journey
edits:
  - tokens: ["{IMAGE}", b, c]
  - causal: "{IMAGE}"
stage: weights
cell: [0, 0]
lens: "{IMAGE}"
```

Text {IMAGE} !![x](IMAGE) ![y][z] {{{{weights["{IMAGE}", 9]}}}} {{{{tokens[0]}}}}

[z]: IMAGE

```notes
Notes {IMAGE} !![x](IMAGE)
```

```question
ask: Ask {IMAGE}
blank: weights[0, 0]
hint: Hint {IMAGE}
```
"""


@pytest.fixture
def picture(tmp_path: Path) -> str:
    """Return the address of an entirely red picture."""
    image = QImage(40, 40, QImage.Format.Format_RGB32)
    image.fill(RED)
    assert image.save(str(tmp_path / "red.png"))
    return (tmp_path / "red.png").as_uri()


@pytest.mark.parametrize(
    ("markdown", "read"),
    [
        ("![x](IMAGE)", ""),
        ("a!![x](IMAGE)", "a!"),
        ("a![x][r]\n\n[r]: IMAGE", "a"),
        ("[![x](IMAGE) name](IMAGE)", " name (IMAGE)"),
        ("<img src='IMAGE'>", "<img src='IMAGE'>"),
        ("`<img src='IMAGE'>`", "<img src='IMAGE'>"),
        ("[a **name**](IMAGE)", "a name (IMAGE)"),
        ("<http://example.org>", "http://example.org"),
        ('![" > <img src=IMAGE>](IMAGE)', ""),
        ("&lt;img src='IMAGE'&gt;", "<img src='IMAGE'>"),
    ],
)
def test_a_text_loads_no_picture_and_opens_no_link(qapp: QApplication, picture: str, markdown: str, read: str) -> None:
    label = MarkdownLabel()
    label.show_markdown(markdown.replace("IMAGE", picture))
    document = QTextDocument()
    document.setHtml(label.text())
    assert document.toPlainText() == read.replace("IMAGE", picture)
    assert "<a " not in label.text()
    label.resize(600, 80)
    seen = label.grab().toImage()
    assert not any(seen.pixel(x, y) == RED for x in range(0, seen.width(), 4) for y in range(0, seen.height(), 4))


@pytest.mark.slow
def test_markup_in_a_lesson_is_shown_as_text(person: "Person", picture: str, tmp_path: Path) -> None:
    path = tmp_path / "strange.md"
    path.write_text(LESSON.replace("IMAGE", picture), encoding="utf-8")
    controller = person.window.workspace(LESSONS)
    assert controller is not None
    assert controller.open(path)
    person.settle()
    assert controller.panel is not None
    for fold in ("Show: Question", "Show: Notes"):
        person.press(fold)
    assert "<img" in controller.panel.findChildren(MarkdownLabel)[0].text().replace("&lt;", "<")
    person.key(Qt.Key.Key_F5)
    assert controller.presentation is not None
    controller.presentation.toggle_speaker()
    _check(controller.presentation)
    person.key(Qt.Key.Key_Escape, widget=controller.presentation)
    person.key(Qt.Key.Key_2, Qt.KeyboardModifier.ControlModifier)
    assert controller.workspace is not None
    lesson = next(each for each in controller.workspace.lessons if each.path == path)
    controller.drafts.edit(lesson)
    controller.workspace.editor.text.insertPlainText(f"{{{{weights[{IMAGE}]}}}}")
    person.wait_for(lambda: "<img" in controller.workspace.editor.preview.wrong.text())
    controller.workspace.editor.question.fields["blank"].selectAll()
    controller.workspace.editor.question.fields["blank"].setFocus()
    person.type(IMAGE)
    assert "<img" in controller.workspace.editor.question.message
    _check(person.window)


def _check(window: QWidget) -> None:
    """Check that texts that Qt reads as markup, in labels and tool tips, contain no image."""
    for label in window.findChildren(QLabel):
        if label.textFormat() != Qt.TextFormat.PlainText:
            assert "<img" not in label.text(), label.accessibleName()
    for widget in window.findChildren(QWidget):
        assert "<img" not in widget.toolTip(), widget.accessibleName()
    for rows in window.findChildren(RowList):
        assert not any("<img" in rows.item(i).toolTip() for i in range(rows.count()))
