# what: prints the right sum on the wrong stream
# mode: outside
# problem: echo
# verdict: wrong
import sys

n = int(input())
print(sum(map(int, input().split())), file=sys.stderr)
