"""The endings of films, weights and lessons; figures and tables have a module for each format."""

FILMS = {".mp4": "MP4", ".gif": "GIF", ".apng": "APNG"}
WEIGHTS = (".csv", ".tsv", ".txt", ".npy", ".npz", ".safetensors", ".pt", ".pth", ".bin")
"""Weights are read from JSON too, but a JSON file that is dropped on the window may be a run."""
LESSONS = (".md", ".markdown")
