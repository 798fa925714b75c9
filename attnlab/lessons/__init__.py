"""Lessons: files of steps that are read, checked, walked through and asked about. Knows no Qt."""
