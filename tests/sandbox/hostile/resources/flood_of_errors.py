# what: writes to standard error without end
# problem: double
# verdict: output_limit
import sys


def double(x):
    while True:
        sys.stderr.write("x" * 10_000)
