# what: prints the right sum and ends with status 3
# mode: outside
# problem: echo
# verdict: runtime_error
import sys

n = int(input())
print(sum(map(int, input().split())))
sys.exit(3)
