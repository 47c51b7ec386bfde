# what: forks without end, whatever happens
# problem: double
# verdict: runtime_error|timeout|out_of_memory
import os


def double(x):
    while True:
        try:
            os.fork()
        except OSError:
            pass
