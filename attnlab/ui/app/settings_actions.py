"""The actions of the Settings section: the theme, the size of type, motion, and the memory for undo and for moments."""

from functools import partial
from typing import TYPE_CHECKING, Any

from attnlab.document.settings import HISTORY_CHOICES, MOMENTS_CHOICES
from attnlab.ui.base.actions import Action, Context
from attnlab.ui.base.theme import CHOICES

if TYPE_CHECKING:
    from attnlab.ui.app.main_window import MainWindow

SECTION = "Settings"
THEME_WORDS = {"contrast-light": "light, high contrast", "contrast-dark": "dark, high contrast"}


def make_settings_actions(w: "MainWindow") -> list[Action[Any]]:
    """Return the actions that change the settings of a window."""
    window = Context.of(w)
    return [
        *(
            Action(
                f"theme-{name}",
                f"Theme: {THEME_WORDS.get(name, name)}",
                SECTION,
                window,
                partial(_set_theme, name),
                checked=partial(_has_theme, name),
            )
            for name in CHOICES
        ),
        Action(
            "larger",
            "Larger type",
            SECTION,
            window,
            lambda w: w.step_type_size(1),
            ("Ctrl++", "Ctrl+="),
            begins_group=True,
        ),
        Action("smaller", "Smaller type", SECTION, window, lambda w: w.step_type_size(-1), ("Ctrl+-",)),
        Action("usual", "Usual size of type", SECTION, window, lambda w: w.step_type_size(0), ("Ctrl+0",)),
        Action(
            "reduced-motion",
            "Reduce motion",
            SECTION,
            window,
            lambda w: w.change_settings(reduced_motion=not w.settings.reduced_motion),
            checked=lambda w: w.settings.reduced_motion,
            hint="Changes appear at once, without fading",
            begins_group=True,
        ),
        *(
            Action(
                f"history-memory-{mib}",
                f"Memory for undo: {_format_mib(mib)}",
                SECTION,
                window,
                partial(_set_history, mib),
                checked=partial(_has_history, mib),
                begins_group=place == 0,
            )
            for place, mib in enumerate(HISTORY_CHOICES)
        ),
        *(
            Action(
                f"moments-memory-{mib}",
                f"Memory for moments: {_format_mib(mib)}",
                SECTION,
                window,
                partial(_set_moments, mib),
                checked=partial(_has_moments, mib),
                hint="The weights that a training run keeps, so that you can go back to any of them",
                begins_group=place == 0,
            )
            for place, mib in enumerate(MOMENTS_CHOICES)
        ),
    ]


def _set_theme(name: str, window: "MainWindow") -> None:
    window.set_theme(name)


def _has_theme(name: str, window: "MainWindow") -> bool:
    return window.settings.theme == name


def _set_history(mib: int, window: "MainWindow") -> None:
    window.set_history_memory(mib)


def _has_history(mib: int, window: "MainWindow") -> bool:
    return window.settings.history_mib == mib


def _set_moments(mib: int, window: "MainWindow") -> None:
    window.change_settings(moments_mib=mib)
    if window.trainer is not None:
        window.trainer.session.set_limit(mib << 20)


def _has_moments(mib: int, window: "MainWindow") -> bool:
    return window.settings.moments_mib == mib


def _format_mib(mib: int) -> str:
    return f"{mib} MiB" if mib < 1024 else f"{mib // 1024} GiB"
