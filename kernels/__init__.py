"""Numeric kernels of graftjax, shipped as `graftjax.kernels`."""
