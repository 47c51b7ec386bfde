# what: looks for that text in its own memory, fresh allocations included
# problem: double
# verdict: passed
import ctypes
import re

LEFT = re.compile(rb"left-in-memory-(\d{10})")
found = []
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
for size in (64, 4096, 1 << 20, 8 << 20):
    address = libc.malloc(ctypes.c_size_t(size))
    if address and LEFT.search(ctypes.string_at(address, size)):
        found.append(f"fresh memory of {size} bytes")
try:
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
        for line in maps:
            span, rights = line.split()[:2]
            low, high = (int(part, 16) for part in span.split("-"))
            if "rw" in rights and high - low < 128 << 20:
                try:
                    memory.seek(low)
                    if LEFT.search(memory.read(high - low)):
                        found.append(line.strip())
                except (OSError, OverflowError, ValueError):
                    pass
except OSError:
    pass


def double(x):
    if found:
        raise RuntimeError("reached: " + "; ".join(found))
    return 2 * x
