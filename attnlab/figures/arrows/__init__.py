"""Arrows in a plane, on the screen and on slides."""
