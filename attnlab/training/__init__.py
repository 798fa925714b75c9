"""Tiny models that learn: tasks, models, the loop, its process, and what is kept of a run. Knows torch, no Qt."""
