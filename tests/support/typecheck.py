"""The run-time checker behind `--jaxtyping-packages` in pyproject.toml."""

from __future__ import annotations

from beartype import BeartypeConf, beartype

checked = beartype(conf=BeartypeConf(is_pep484_tower=True))
"""beartype, with an int accepted where a float is asked for, as every static checker does (PEP 484)."""
