# what: opens the descriptors 0 to 64 of every other process directly, where the listing is forbidden
# problem: double
# verdict: passed
import os


def reached():
    for entry in [entry for entry in os.listdir("/proc") if entry.isdigit() and int(entry) != os.getpid()]:
        try:
            if os.stat("/proc/" + entry).st_uid == os.getuid():
                continue
        except OSError:
            continue
        for number in range(64):
            for way in (os.O_RDONLY | os.O_NONBLOCK, os.O_WRONLY | os.O_NONBLOCK):
                try:
                    os.close(os.open(f"/proc/{entry}/fd/{number}", way))
                except OSError:
                    continue
                yield f"/proc/{entry}/fd/{number}"


def double(x):
    leaks = list(reached())
    if leaks:
        raise RuntimeError("reached: " + "; ".join(leaks)[:500])
    return 2 * x
