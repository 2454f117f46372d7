"""What goes wrong in a fusion, as an error of its own."""

from graftjax.errors import GraftError


class FuseError(GraftError):
    """The tables of a synthesis can't be fused as asked."""
