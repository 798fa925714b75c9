"""The mathematics of attention. Imports only torch, NumPy and attnlab.base."""
