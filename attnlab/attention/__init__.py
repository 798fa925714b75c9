"""The mathematics of attention: torch and nothing else. Imports nobody but the errors."""
