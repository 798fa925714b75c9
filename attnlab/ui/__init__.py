"""The desktop program: a window, its workspaces and widgets. Only the doors import this."""
