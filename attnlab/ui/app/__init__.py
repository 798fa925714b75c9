"""The application and its windows: start, actions, command palette, opening of files."""
