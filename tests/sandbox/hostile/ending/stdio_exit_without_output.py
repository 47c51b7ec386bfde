# what: succeeds without having printed anything
# mode: outside
# problem: echo
# verdict: wrong
import sys

sys.exit(0)
