"""The demo's domains: each module builds one, `build() -> Domain`."""
