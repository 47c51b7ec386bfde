# what: prints the right sum and leaves a daemon that keeps standard output open
# mode: outside
# problem: echo
# verdict: passed
import os
import sys
import time

n = int(input())
print(sum(map(int, input().split())))
sys.stdout.flush()
if os.fork() == 0:
    os.setsid()
    time.sleep(3600)
