# what: ends the process from a destructor that the harness triggers by dropping the answer
# problem: double
# verdict: runtime_error|wrong
import os


class Answer(int):
    def __del__(self):
        os._exit(0)


def double(x):
    return Answer(2 * x + 1)
