"""What every part needs: errors, their log, shipped files, folders, numbers as text. Imports neither Qt nor torch."""
