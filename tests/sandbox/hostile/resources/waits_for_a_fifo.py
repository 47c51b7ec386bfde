# what: opens a named pipe, which waits for the other side
# problem: double
# verdict: timeout
import os


def double(x):
    os.mkfifo("wait")
    open("wait").read()
