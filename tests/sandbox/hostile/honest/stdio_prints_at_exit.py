# what: prints its answer in an exit handler
# mode: outside
# problem: echo
# verdict: passed
import atexit

input()
numbers = list(map(int, input().split()))
atexit.register(lambda: print(sum(numbers)))
