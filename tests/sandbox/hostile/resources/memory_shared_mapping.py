# what: fills anonymous shared memory, which belongs to no process alone
# problem: double
# verdict: out_of_memory
import mmap


def double(x):
    block = mmap.mmap(-1, 1 << 30)
    for place in range(0, 1 << 30, 4096):
        block[place] = 1
    return 2 * x
