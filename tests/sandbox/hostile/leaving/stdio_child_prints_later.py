# what: leaves while a daemon goes on printing for ever
# mode: outside
# problem: echo
# verdict: wrong|output_limit
import os
import sys
import time

n = int(input())
sys.stdout.flush()
if os.fork() == 0:
    os.setsid()
    while True:
        print("more", flush=True)
        time.sleep(0.01)
print("0.5")
