"""Tables of numbers, and numbers as text."""
