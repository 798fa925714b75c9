"""How long a test waits for what is certain to come: far longer than it takes, as machines are busy."""

PATIENCE_S = 300.0
PATIENCE_MS = round(1000 * PATIENCE_S)
