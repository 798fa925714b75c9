"""What every part of the window stands on: it knows neither widgets of the program nor workspaces."""
