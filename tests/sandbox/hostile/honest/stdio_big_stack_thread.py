# what: runs in a thread with a large stack and a high recursion limit, as contestants do
# mode: outside
# problem: echo
# verdict: passed
import sys
import threading


def total(numbers, place=0):
    return numbers[place] + total(numbers, place + 1) if place < len(numbers) else 0


def depth(n):
    return 0 if n == 0 else 1 + depth(n - 1)


def main():
    input()
    assert depth(20_000) == 20_000
    print(total(list(map(int, input().split()))))


sys.setrecursionlimit(10**6)
threading.stack_size(1 << 26)
thread = threading.Thread(target=main)
thread.start()
thread.join()
