"""Retrieval on Spider, 100 queries over 5,673 tables, as in the paper's Table 2.

Command:   python experiments/spider.py --L 5 10 15
Hardware:  2 CPU cores
Time:      1 min to index the lake once, then 2 to 3 min
Expected:  at L=10 by exact gains graft-fill F1 0.52 and sufficiency 0.58 (learned 0.54, 0.62), dtr F1 0.40

Without the data set (see --data-dir) it runs on the bundled demo lake and says so.
"""

from _tables import Args, run_tables

from graftjax.console import parse_arguments, run_console


def main() -> int:
    return run_tables(parse_arguments(Args, description=__doc__), "spider")


if __name__ == "__main__":
    run_console(main, "spider.py")
