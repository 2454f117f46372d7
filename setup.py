"""Which folders make up the distribution; everything else is said in pyproject.toml.

The top-level folder `kernels` is shipped as `graftjax.kernels`: an installed package of the plain name would
be taken for the hub's `kernels` by transformers. A package outside its parent's folder cannot be found by
pyproject's automatic search, and a list by hand would fall behind, hence these lines of Python.
"""

from setuptools import find_packages, setup

setup(
    packages=[
        *find_packages(include=["graftjax", "graftjax.*"], exclude=["graftjax.demo.lake*"]),
        "graftjax.kernels",
        *(f"graftjax.kernels.{name}" for name in find_packages("kernels")),
    ],
    package_dir={"graftjax.kernels": "kernels"},
)
