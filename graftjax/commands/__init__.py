"""The subcommands of `graftjax`, one file each: a dataclass of arguments and what it does.

The library is imported inside the functions: JAX takes seconds to start, `--help` should not.
"""
