# what: prints the right sum and ends past the flush, as the interpreter would lose it
# mode: outside
# problem: echo
# verdict: wrong
import os

n = int(input())
print(sum(map(int, input().split())))
os._exit(0)
