# what: makes every descriptor /dev/null, which swallows answers and reports an end
# verdict: runtime_error
import os

null = os.open("/dev/null", os.O_RDWR)
for handle in range(0, 64):
    if handle != null:
        os.dup2(null, handle)


def double(x):
    return 2 * x
