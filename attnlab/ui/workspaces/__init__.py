"""The workspaces, one module for each: a ``WorkspaceKind``, whose ``order`` is its place on the rail and Ctrl+1, ….

The window finds them by itself. A module must be quick to import and may load torch only in functions; a large
workspace has a folder of its own in ``ui``, a small one fits into its module.
"""
