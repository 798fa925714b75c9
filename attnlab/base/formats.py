"""The endings of files that attnlab reads and writes. Each list stands here once; tests compare it with the code."""

FIGURES = {".png": "PNG", ".svg": "SVG", ".pdf": "PDF"}
TABLES = {
    ".csv": "Table (CSV)",
    ".npy": "NumPy array (NPY)",
    ".npz": "NumPy archive (NPZ)",
    ".safetensors": "safetensors",
}
FORMATS = FIGURES | TABLES
"""What a stage can be exported to."""
FILMS = {".mp4": "MP4", ".gif": "GIF", ".apng": "APNG"}
WEIGHTS = (".csv", ".tsv", ".txt", ".npy", ".npz", ".safetensors", ".pt", ".pth", ".bin")
"""Weights are read from JSON too, but a JSON file that is dropped on the window may be a run."""
LESSONS = (".md", ".markdown")
