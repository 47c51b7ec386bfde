# what: asks for more input than there is, again and again
# mode: stdio
# problem: echo
# verdict: timeout
import sys

while True:
    sys.stdin.readline()
