# what: gives one right answer and leaves
# verdict: runtime_error
import os

asked = []


def double(x):
    if asked:
        os._exit(0)
    asked.append(x)
    return 2 * x
