"""What a stage can be written as: endings of figures and of tables, for the window and the command line alike."""

FIGURES = {".png": "PNG", ".svg": "SVG", ".pdf": "PDF"}
TABLES = {
    ".csv": "Table (CSV)",
    ".npy": "NumPy array (NPY)",
    ".npz": "NumPy archive (NPZ)",
    ".safetensors": "safetensors",
}
FORMATS = FIGURES | TABLES
