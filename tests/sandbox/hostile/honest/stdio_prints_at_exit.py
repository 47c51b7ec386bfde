# what: prints its answer in an exit handler
# mode: stdio
# problem: echo
# verdict: passed
import atexit

input()
numbers = list(map(int, input().split()))
atexit.register(lambda: print(sum(numbers)))
