"""Shared basics: errors and their log, shipped files, folders, numbers as text. Imports neither Qt nor torch."""
