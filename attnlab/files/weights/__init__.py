"""Weights from files: arrays are read, matched to W_q, W_k and W_v, and put into an experiment."""
