"""Fusion: a synthesis becomes SQL, and the SQL one table."""

from graftjax.fuse.errors import FuseError
from graftjax.fuse.fused import Fused, FusedColumn, StepRows
from graftjax.fuse.fusion import fuse
from graftjax.fuse.output import SUFFIXES, check_path
from graftjax.fuse.settings import FuseSettings
from graftjax.fuse.sources import BenchmarkSource, FolderSource, MemorySource, RawSource, lake_source

__all__ = [
    "SUFFIXES",
    "BenchmarkSource",
    "FolderSource",
    "FuseError",
    "FuseSettings",
    "Fused",
    "FusedColumn",
    "MemorySource",
    "RawSource",
    "StepRows",
    "check_path",
    "fuse",
    "lake_source",
]
