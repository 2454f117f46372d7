"""`python -m graftjax.trajectories.worker`: makes chunks for `stream`, in a process without JAX."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path


def main(arguments: list[str]) -> None:
    """Arguments: file of the pickled source, folder, number of records, chunks (comma separated)."""
    job, folder, count, numbers = arguments
    source = pickle.loads(Path(job).read_bytes())
    for number in map(int, numbers.split(",")):
        source.write(Path(folder), number, int(count))
        print(number, flush=True)  # fails when nobody listens any more, which ends this process


if __name__ == "__main__":
    main(sys.argv[1:])
