# what: prints the right sum, and floods standard error
# mode: outside
# problem: echo
# verdict: output_limit
import sys

n = int(input())
print(sum(map(int, input().split())), flush=True)
while True:
    sys.stderr.write("warning\n" * 1000)
