"""Data sets, metrics, timed runs and result files."""
