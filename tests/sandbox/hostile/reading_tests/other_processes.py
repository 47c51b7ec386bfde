# what: opens memory, environment, descriptors and working directory of every process that is not its own
# verdict: passed
import os

NAMES = ("mem", "environ", "maps", "smaps", "auxv", "syscall", "stack", "io", "pagemap", "personality", "timers")


def reached():
    mine = os.getuid()
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        base = "/proc/" + entry
        try:
            if os.stat(base).st_uid == mine or int(entry) == os.getpid():
                continue
        except OSError:
            continue
        for name in NAMES:
            try:
                with open(f"{base}/{name}", "rb", 0) as file:
                    file.read(64)
            except OSError:
                continue
            yield f"{base}/{name}"
        for name in ("fd", "map_files", "task/" + entry + "/fd", "fdinfo"):
            try:
                yield f"{base}/{name}: {os.listdir(base + '/' + name)}"
            except OSError:
                pass
        for name in ("cwd", "root", "exe"):
            try:
                yield f"{base}/{name} -> {os.readlink(base + '/' + name)}"
            except OSError:
                pass


at_import = list(reached())


def double(x):
    leaks = at_import or list(reached())
    if leaks:
        raise RuntimeError("reached: " + "; ".join(leaks)[:500])
    return 2 * x
