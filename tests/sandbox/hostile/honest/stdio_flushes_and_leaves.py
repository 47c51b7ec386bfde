# what: leaves by os._exit after it has flushed, as contestants do to save time
# mode: outside
# problem: echo
# verdict: passed
import os
import sys

lines = iter(sys.stdin)
next(lines)
print(sum(map(int, next(lines).split())))
sys.stdout.flush()
os._exit(0)
