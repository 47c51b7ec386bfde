# what: closes every descriptor in a call and gives the right answer to nobody
# problem: listy
# verdict: runtime_error
import os


def evens(xs):
    os.closerange(3, 4096)
    return [number for number in xs if number % 2 == 0]
