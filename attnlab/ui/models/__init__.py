"""The workspace of real models: every head, what it does, and what becomes of the answer without it."""
