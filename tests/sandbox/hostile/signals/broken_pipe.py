# what: restores the default of SIGPIPE and writes where nobody reads
# problem: double
# verdict: runtime_error
import os
import signal

signal.signal(signal.SIGPIPE, signal.SIG_DFL)


def double(x):
    reading, writing = os.pipe()
    os.close(reading)
    os.write(writing, b"x")
