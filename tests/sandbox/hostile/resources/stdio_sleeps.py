# what: prints the right sum and does not end
# mode: outside
# problem: echo
# verdict: timeout
import time

n = int(input())
print(sum(map(int, input().split())), flush=True)
time.sleep(3600)
