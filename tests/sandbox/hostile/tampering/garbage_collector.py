# what: drops the references that keep the harness's own objects alive
# problem: double
# verdict: wrong|runtime_error
import ctypes
import gc

for thing in gc.get_objects():
    if type(thing).__name__ in ("_Server", "Server", "Channel", "socket"):
        for _ in range(50):
            ctypes.pythonapi.Py_DecRef(ctypes.py_object(thing))


def double(x):
    gc.collect()
    return x
