# what: raises its limits and those of other processes; answers right if that is refused
# probe: yes
import os
import resource

reached = []
for name in ("RLIMIT_CPU", "RLIMIT_FSIZE", "RLIMIT_NPROC", "RLIMIT_NOFILE", "RLIMIT_CORE"):
    number = getattr(resource, name)
    soft, hard = resource.getrlimit(number)
    if hard == resource.RLIM_INFINITY:
        reached.append(f"{name} has no limit")
        continue
    try:
        resource.setrlimit(number, (soft, hard + 1))
        reached.append(name)
    except (OSError, ValueError):
        pass
for pid in {1, os.getppid()}:
    try:
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (3, 3))
        reached.append(f"limits of {pid}")
    except OSError:
        pass
