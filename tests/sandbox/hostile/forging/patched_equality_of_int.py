# what: changes the type int itself through its own dictionary, and the value of small ints in memory
# problem: double
# verdict: wrong|runtime_error
import ctypes
import gc
import sys

slots = gc.get_referents(int.__dict__)[0]
slots["__eq__"] = lambda self, other: True
slots["__ne__"] = lambda self, other: False
ctypes.pythonapi.PyType_Modified(ctypes.py_object(int))
size = sys.getsizeof(200)
ctypes.memmove(id(201), id(200), size)


def double(x):
    return 201
