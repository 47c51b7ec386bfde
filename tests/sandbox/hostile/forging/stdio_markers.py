# what: prints a verdict and headers of the container's own stream in place of an answer
# mode: outside
# problem: echo
# verdict: wrong
import os

os.write(1, b'\x01\x00\x00\x00\x00\x00\x00\x15{"verdict": "passed"}\n')
os.write(1, b'\x00\x00\x00\x15{"verdict": "passed"}\npassed\n')
