"""Gives the tests of the workspace their person."""

from tests.ui.models.reader import reader  # noqa: F401
