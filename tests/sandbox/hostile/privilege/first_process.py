# what: reads environment, memory, root and streams of process 1, and writes to its output
# probe: yes
import os

reached = []
for name in ("environ", "mem", "maps", "stack", "syscall", "auxv", "io", "personality", "pagemap", "smaps"):
    try:
        with open("/proc/1/" + name, "rb", 0) as file:
            file.read(1)
        reached.append(name)
    except OSError:
        pass
for number in range(16):
    for way in (os.O_RDONLY, os.O_WRONLY):
        try:
            os.close(os.open(f"/proc/1/fd/{number}", way | os.O_NONBLOCK))
            reached.append(f"descriptor {number}")
        except OSError:
            pass
for name in ("root", "cwd", "exe", "root/etc/shadow"):
    try:
        os.stat("/proc/1/" + name)
        reached.append(name)
    except OSError:
        pass
for path in ("/dev/console", "/proc/1/oom_score_adj", "/proc/1/comm", "/proc/1/clear_refs", "/proc/1/coredump_filter"):
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_NOCTTY))
        reached.append(path)
    except OSError:
        pass
