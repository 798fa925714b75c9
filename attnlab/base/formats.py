"""The endings of films, weights and lessons; figures and tables have a module for each format."""

FILMS = {".mp4": "MP4", ".gif": "GIF", ".apng": "APNG"}
WEIGHTS = (".csv", ".tsv", ".txt", ".npy", ".npz", ".safetensors", ".pt", ".pth", ".bin")
"""The endings of weights. They are read from JSON too, but beside a run or a model, JSON holds settings."""
LESSONS = (".md", ".markdown")
