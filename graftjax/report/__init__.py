"""Reports: an answer as one HTML page that needs nothing else and runs nothing."""

from graftjax.report.page import page
from graftjax.report.story import Story

__all__ = ["Story", "page"]
