"""Slides of a lesson: their content, layout and drawing."""
