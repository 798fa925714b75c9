"""What the window prepares while it rests, so that the first visit to a workspace takes little time."""

import sys

import pytest

from attnlab.ui.base.ahead import import_each
from tests.ui.test_qt_in_threads import child


@pytest.mark.slow
def test_the_first_visit_to_a_workspace_imports_nothing_and_reads_no_lesson() -> None:
    answer = child("""
        import sys
        from attnlab.files.source import Source
        from attnlab.ui.app.application import run

        def on_window(window):
            def visit_all():
                from attnlab.lessons.library import _read_one
                before, read = set(sys.modules), _read_one.cache_info().misses
                for kind in window.kinds:
                    window.show_workspace(kind.name)
                imported = {name for name in set(sys.modules) - before if name.startswith("attnlab.ui")}
                print(len(window.kinds), imported, read > 0, _read_one.cache_info().misses - read)
                window.close()

            window.starting.loader.later.done.connect(visit_all)

        run(Source(preset="journey"), on_window=on_window)
    """)
    assert answer == "4 set() True 0"


def test_a_module_that_is_missing_is_left_to_the_first_visit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "wave", raising=False)
    monkeypatch.setitem(sys.modules, "attnlab.missing", None)
    assert list(import_each("attnlab.missing", "wave")) == [None, None]
    assert "wave" in sys.modules
