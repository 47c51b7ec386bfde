# what: prints the answer between blanks, and notes on standard error
# mode: outside
# problem: echo
# verdict: passed
import sys
import warnings

warnings.warn("an old way")
print("reading", file=sys.stderr)
input()
print(sum(map(int, input().split())), end=" \n\n")
