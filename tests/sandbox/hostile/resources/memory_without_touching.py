# what: reserves address space without using it, and answers right where that is allowed
# verdict: passed
import mmap

reserved = mmap.mmap(-1, 8 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0x4000))


def double(x):
    return 2 * x
