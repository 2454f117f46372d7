"""Figures of the experiments as data: written, read, summarised, compared, and shown in the README."""
