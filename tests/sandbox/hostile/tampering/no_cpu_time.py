# what: lowers its own CPU limit, so that the kernel ends it early
# verdict: timeout|runtime_error
import resource

resource.setrlimit(resource.RLIMIT_CPU, (1, 1))


def double(x):
    while True:
        pass
