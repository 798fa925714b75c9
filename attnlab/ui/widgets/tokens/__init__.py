"""The strip of tokens."""
