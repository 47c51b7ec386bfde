# what: leaves with status 0 while it is loaded
# problem: double
# verdict: runtime_error
import sys

sys.exit(0)
