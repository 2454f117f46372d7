"""Errors whose message is meant for the user: one line that says what to do."""


class GraftError(Exception):
    """Something outside the program is wrong (a file, an index, an endpoint)."""


class UsageError(GraftError):
    """The command line or an argument is wrong; commands exit with code 2."""
