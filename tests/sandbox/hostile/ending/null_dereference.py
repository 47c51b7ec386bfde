# what: reads address zero
# problem: double
# verdict: runtime_error
import ctypes


def double(x):
    return ctypes.string_at(0)
