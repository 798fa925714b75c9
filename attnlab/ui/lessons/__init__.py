"""The lessons' workspace: the list of lessons, the player, the panel beside the playground, and the recorder."""
