"""Layouts of widgets."""
