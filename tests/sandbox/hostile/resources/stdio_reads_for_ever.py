# what: asks for more input than there is, again and again
# mode: outside
# problem: echo
# verdict: timeout
import sys

while True:
    sys.stdin.readline()
