# what: raises the exceptions by which test frameworks skip
# problem: double
# verdict: runtime_error
import unittest


def double(x):
    raise unittest.SkipTest("not today")
