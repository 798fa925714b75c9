"""Values that come faster than they can be read: the first is shown at once, then only the newest."""

from pytestqt.qtbot import QtBot

from attnlab.ui.train.paced import Paced


def test_the_first_and_the_last_of_many_values_are_shown(qtbot: QtBot) -> None:
    paced, shown = Paced(), list[object]()
    paced.due.connect(shown.append)
    for value in ("a", "b", "c"):
        paced.offer(value)
    assert shown == ["a"]
    assert paced.is_behind
    with qtbot.waitSignal(paced.due):
        pass
    assert shown == ["a", "c"]
    assert not paced.is_behind
