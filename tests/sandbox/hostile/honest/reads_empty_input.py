# what: reads standard input, which is empty, and copes
# problem: double
# verdict: passed
import sys

assert sys.stdin.read() == ""
try:
    input()
except EOFError:
    pass


def double(x):
    return 2 * x
