"""The lessons' workspace: the shelf of lessons, the player that walks one, the panel beside it, and the recorder."""
