# what: fills files that live in memory and have no name
# verdict: out_of_memory|runtime_error
import os


def double(x):
    handles = []
    while True:
        handle = os.memfd_create("x")
        handles.append(handle)
        for _ in range(30):
            os.write(handle, bytes(1 << 20))
