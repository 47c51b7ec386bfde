# what: overwrites the machine code of its interpreter through /proc/self/mem
# problem: double
# verdict: runtime_error
import ctypes


def double(x):
    target = ctypes.cast(ctypes.pythonapi.PyLong_FromLong, ctypes.c_void_p).value
    with open("/proc/self/mem", "r+b", 0) as memory:
        memory.seek(target & ~4095)
        memory.write(b"\x00" * 65536)
    return int(str(x)) * 2
