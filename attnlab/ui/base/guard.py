"""Keeps errors inside the methods that Qt calls: before Python 3.12, one that escapes can kill the process.

PySide passes an error of an override to the Python code that caused Qt to call it. On CPython 3.11 this crashes for
errors that C raises with a bare string, such as that of ``[][0]``. So every class that overrides a virtual method of Qt
is ``@guarded``: the error is reported, and Qt gets a harmless return value.
"""

from collections.abc import Callable, Iterable
from functools import wraps
from types import FunctionType
from typing import Any, TypeVar

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QAccessible, QPainterPath, QValidator
from PySide6.QtWidgets import QAbstractSpinBox

from attnlab.base.fault_log import report

Class = TypeVar("Class", bound=type)
Answer = Callable[..., Any]


def _nothing(*_: object) -> None:
    return None


def _no(*_: object) -> bool:
    return False


def _zero(*_: object) -> int:
    return 0


def _size(*_: object) -> QSize:
    return QSize()


_WITHOUT_ANSWER = """
    changeEvent closeEvent contextMenuEvent customEvent dragEnterEvent dragLeaveEvent dragMoveEvent dropEvent enterEvent
    focusInEvent focusOutEvent hideEvent keyPressEvent keyReleaseEvent leaveEvent mouseDoubleClickEvent mouseMoveEvent
    mousePressEvent mouseReleaseEvent moveEvent paintEvent resizeEvent showEvent timerEvent wheelEvent
    addItem data headerData initStyleOptionForIndex itemAt takeAt paint paintSection scrollContentsBy setGeometry
    showPopup stepBy
    child childAt focusChild object parent setText window
"""
_YES_OR_NO = "event eventFilter focusNextPrevChild hasHeightForWidth hitButton isValid viewportEvent"
ANSWERS: dict[str, Answer] = {
    **dict.fromkeys(_WITHOUT_ANSWER.split(), _nothing),
    **dict.fromkeys(_YES_OR_NO.split(), _no),
    **dict.fromkeys(("childCount", "columnCount", "count", "rowCount"), _zero),
    **dict.fromkeys(("minimumSize", "minimumSizeHint", "sizeHint"), _size),
    "boundingRect": lambda *_: QRectF(),
    "expandingDirections": lambda *_: Qt.Orientation(0),
    "fixup": lambda _, text: text,
    "flags": lambda *_: Qt.ItemFlag.NoItemFlags,
    "heightForWidth": lambda *_: -1,
    "inputMethodQuery": _nothing,
    "indexOfChild": lambda *_: -1,
    "rect": lambda *_: QRect(),
    "role": lambda *_: QAccessible.Role.NoRole,
    "shape": lambda *_: QPainterPath(),
    "state": lambda *_: QAccessible.State(),
    "stepEnabled": lambda *_: QAbstractSpinBox.StepEnabledFlag.StepNone,
    "text": lambda *_: "",
    "validate": lambda _, text, place: (QValidator.State.Intermediate, text, place),
}
"""The value that Qt gets when an override fails, as a function of the override's arguments."""
AS_QT = ("accept", "done", "invalidate", "reject")
"""When one of these overrides fails, Qt's own method runs instead: a dialog must close, a layout be laid out anew."""


def guarded(cls: Class) -> Class:
    """Decorate a class so that errors in its overrides of Qt's virtual methods are reported and do not escape."""
    guard_methods(cls, (*ANSWERS, *AS_QT))
    return cls


def guard_methods(cls: type, names: Iterable[str]) -> None:
    """Guard those overrides of Qt's virtual methods of a class that have one of some names."""
    for name in names:
        method = vars(cls).get(name)
        if isinstance(method, FunctionType) and not is_guarded(method) and _is_qts(cls, name):
            setattr(cls, name, _guard_call(method, ANSWERS.get(name) or _qts_own(cls, name)))


def is_guarded(method: object) -> bool:
    """Return whether errors cannot leave a method."""
    return hasattr(method, "__guarded__")


def _guard_call(method: FunctionType, answer: Answer) -> Callable[..., Any]:
    @wraps(method)
    def call(self: Any, *arguments: Any) -> Any:
        try:
            return method(self, *arguments)
        except Exception as error:  # noqa: BLE001  # this is the guard: nothing may escape
            report(error)
        return answer(self, *arguments)

    call.__guarded__ = True  # type: ignore[attr-defined]
    return call


def _is_qts(cls: type, name: str) -> bool:
    """Return whether a class inherits a method from Qt; a mixin counts as if it did."""
    bases = [base for base in cls.__mro__[1:] if base is not object]
    from_qt = [base for base in bases if base.__module__.startswith("PySide6.")]
    return not from_qt or any(name in vars(base) for base in from_qt)


def _qts_own(cls: type, name: str) -> Answer:
    from_qt = (base for base in cls.__mro__ if base.__module__.startswith("PySide6.") and name in vars(base))
    own = next(from_qt, None)

    def call(self: Any, *arguments: Any) -> None:
        try:
            if own is not None:
                getattr(own, name)(self, *arguments)
        except Exception as error:  # noqa: BLE001  # this is the guard: nothing may escape
            report(error)

    return call
