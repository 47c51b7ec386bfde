# what: forks without end, whatever happens
# verdict: runtime_error|timeout|out_of_memory
import os


def double(x):
    while True:
        try:
            os.fork()
        except OSError:
            pass
