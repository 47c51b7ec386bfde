# what: succeeds without having printed anything
# mode: stdio
# problem: echo
# verdict: wrong
import sys

sys.exit(0)
