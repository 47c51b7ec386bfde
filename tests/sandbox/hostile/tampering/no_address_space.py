# what: forbids itself any more memory and asks for some
# problem: double
# verdict: out_of_memory|runtime_error
import resource

resource.setrlimit(resource.RLIMIT_AS, (1 << 20, 1 << 20))


def double(x):
    return len(bytearray(64 << 20)) and 2 * x
