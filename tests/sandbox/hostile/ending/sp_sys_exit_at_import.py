# what: leaves with status 0 before the tests are defined
# mode: shared
# problem: double
# verdict: runtime_error
import sys

sys.exit()
