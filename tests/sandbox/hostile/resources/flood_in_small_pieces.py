# what: prints single bytes, unbuffered, on both streams in turn
# problem: double
# verdict: output_limit|timeout
import os


def double(x):
    while True:
        os.write(1, b"x")
        os.write(2, b"y")
