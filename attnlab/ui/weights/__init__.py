"""Weights brought in: what is in a file, which of it becomes which weight, and what that would give."""
