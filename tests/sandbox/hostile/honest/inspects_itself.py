# what: looks at its own frames, signature and garbage
# problem: double
# verdict: passed
import gc
import inspect
import sys


def double(x):
    assert list(inspect.signature(double).parameters) == ["x"]
    assert sys._getframe().f_code.co_name == "double"
    gc.collect()
    return 2 * sys._getframe().f_locals["x"]
