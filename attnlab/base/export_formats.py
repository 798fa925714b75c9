"""The file formats that a stage can be exported to, for the window and the command line alike."""

FIGURES = {".png": "PNG", ".svg": "SVG", ".pdf": "PDF"}
TABLES = {
    ".csv": "Table (CSV)",
    ".npy": "NumPy array (NPY)",
    ".npz": "NumPy archive (NPZ)",
    ".safetensors": "safetensors",
}
FORMATS = FIGURES | TABLES
