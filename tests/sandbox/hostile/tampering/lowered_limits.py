# what: lowers its own limits to zero and answers right
# problem: double
# verdict: passed
import resource

for name in ("RLIMIT_CORE", "RLIMIT_FSIZE", "RLIMIT_NPROC", "RLIMIT_NOFILE", "RLIMIT_MEMLOCK"):
    resource.setrlimit(getattr(resource, name), (0, 0))


def double(x):
    return 2 * x
