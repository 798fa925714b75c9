"""Foundations of the window: faults, background jobs, the clipboard. Imports no widgets or workspaces."""
