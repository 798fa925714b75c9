"""Curves, bars and the time line."""
