"""Lessons and exercises: reading, checking, showing and grading them. Does not import Qt."""
