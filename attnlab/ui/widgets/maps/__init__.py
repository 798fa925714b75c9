"""Widgets that paint maps."""
