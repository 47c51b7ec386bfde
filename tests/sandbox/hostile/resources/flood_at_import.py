# what: writes bytes to descriptor 1 without end while it is loaded
# problem: double
# verdict: output_limit
import os

block = bytes(65536)
while True:
    os.write(1, block)
