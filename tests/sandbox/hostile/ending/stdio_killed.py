# what: prints the right sum and kills itself
# mode: outside
# problem: echo
# verdict: runtime_error
import os

n = int(input())
print(sum(map(int, input().split())), flush=True)
os.kill(os.getpid(), 9)
