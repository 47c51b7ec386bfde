# what: looks for the sum it is to print in its memory, files and environment before it has added anything
# mode: outside
# problem: echo
# verdict: passed
import os
import re
import sys

SUM = re.compile(rb"770000000001(\d\d)")


def leaks():
    for name, value in os.environb.items():
        if SUM.search(value):
            yield repr(name)
    try:
        maps, memory = open("/proc/self/maps"), open("/proc/self/mem", "rb", 0)
    except OSError:
        return
    for line in maps:
        span, rights = line.split()[:2]
        low, high = (int(part, 16) for part in span.split("-"))
        if "rw" not in rights or high - low > 128 << 20:
            continue
        try:
            memory.seek(low)
            hit = SUM.search(memory.read(high - low))
        except (OSError, OverflowError, ValueError):
            continue
        if hit:
            yield repr(hit.group())
    for folder, _, names in os.walk("/tmp"):
        for name in names:
            try:
                with open(os.path.join(folder, name), "rb") as file:
                    if SUM.search(file.read(1 << 20)):
                        yield name
            except OSError:
                pass


found = list(leaks())
if found:
    sys.exit("reached: " + "; ".join(found))
n = int(input())
print(sum(map(int, input().split())))
