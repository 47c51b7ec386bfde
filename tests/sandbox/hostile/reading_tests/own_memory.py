# what: reads its whole memory: what the process it was forked from has ever read is still there
# verdict: passed
import re

MARKER = re.compile(rb"expected-side-(\d{10})")


def found():
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
        for line in maps:
            span, rights = line.split()[:2]
            low, high = (int(part, 16) for part in span.split("-"))
            if "r" not in rights or high - low > 256 << 20 or "[v" in line:
                continue
            at = low
            while at < high:
                try:
                    memory.seek(at)
                    part = memory.read(min(1 << 20, high - at))
                except (OSError, OverflowError, ValueError):
                    break
                if not part:
                    break
                hit = MARKER.search(part)
                if hit:
                    return part[max(0, hit.start() - 60) : hit.end() + 200]
                del part
                at += 1 << 20
    return None


try:
    at_import = found()
except OSError:
    at_import = None


def double(x):
    if at_import:
        raise RuntimeError("reached: " + repr(at_import))
    return 2 * x
