"""The lecturer: presents a lesson, presses the keys of a clicker, and reads what the audience reads."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QSize, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from attnlab.lessons.parse import parse

Key = Qt.Key

LESSON = """---
title: A short lesson
---

## All pairs at once

```state
preset: journey
stage: weights
cell: [2, 1]
```

“starts” gives “journey” {{weights[2, 1]}}, and *nothing* is hidden.

```notes
Say what a **weight** is.
```

## Row by row

```state
depth: row
```

Each row sums to {{sum(weights[0, :]):.2f}}.

## Term by term

```state
stage: scores
cell: [2, 1]
depth: term
```

A product, and another.

## With causal masks

```state
edits:
  - causal: true
stage: weights
```

Before it was {{before.weights[2, 1]}}, now it is {{weights[2, 1]}}.

## What is it?

```state
cell: [1, 0]
```

```question
ask: How much does “journey” give to “Your”?
blank: weights[1, :]
hint: Two words share the whole.
```
"""


class Lecturer:
    """Presents to an audience. The content of a slide is read from its painted data."""

    def __init__(self, person: Any, lesson: Any, size: QSize) -> None:
        from attnlab.ui.lessons.player import LessonPlayer
        from attnlab.ui.present import PresentWindow

        self.person = person
        self.player = LessonPlayer(person.document, person.window)
        self.player.open(lesson)
        self.presentation = PresentWindow(person.playground, self.player, person.window)
        self.presentation.present(size=size)
        person.wait_for(self.presentation.isActiveWindow)
        self.wait()

    @property
    def content(self) -> Any:
        content = self.presentation.view.content
        assert content is not None
        return content

    def wait(self) -> None:
        """Wait until the slide shows its numbers, and the next one is ready."""
        lane = self.person.playground.lane
        self.person.wait_for(lambda: not lane.busy and self._whole())

    def _whole(self) -> bool:
        content = self.presentation.view.content
        presenter = self.presentation.presenter
        trace = presenter.numbers.find_trace()
        if (
            trace is None
            or presenter.slide is None
            or presenter.numbers.find_earlier_trace(presenter.slide, trace) is None
        ):
            return False
        return content is presenter.content and content is not None and bool(content.main or content.whole)

    def press(self, *keys: Qt.Key, widget: QWidget | None = None) -> None:
        for key in keys:
            QTest.keyClick(widget or self.presentation, key)
        self.wait()

    def text(self) -> str:
        return "\n".join("".join(run.text for run in each.runs) for each in self.content.text)

    def arithmetic(self) -> str:
        ways = () if self.content.arithmetic_covered else self.content.arithmetic
        return "\n".join("".join(run.text for run in line) for line in ways[0]) if ways else ""

    def bars(self) -> dict[str, str]:
        return {bar.label: bar.text for bar in self.content.row.bars} if self.content.row else {}

    def answer(self) -> str:
        """Return the text after the reveal, "" while it is covered."""
        return "\n".join(
            "".join(run.text for run in each.runs) for each in self.content.answer if self.content.answered
        )

    def unknown(self) -> int:
        """Return the number of empty cells of the map."""
        empty = self.content.main.data.unknown
        return int(empty.sum()) if empty is not None else 0


@pytest.fixture
def lecture(sit_down: Callable[..., Any]) -> Iterator[Callable[..., Lecturer]]:
    """Present a lesson, the short one above unless another is given, in a window of a size."""
    standing: list[Lecturer] = []

    def present(lesson: Any = None, size: tuple[int, int] = (1280, 720)) -> Lecturer:
        lecturer = Lecturer(sit_down(), lesson or parse(LESSON, "short"), QSize(*size))
        standing.append(lecturer)
        return lecturer

    yield present
    for lecturer in standing:
        lecturer.presentation.close()
        lecturer.presentation.deleteLater()
        QCoreApplication.sendPostedEvents(lecturer.presentation, QEvent.Type.DeferredDelete.value)
        vars(lecturer).clear()
