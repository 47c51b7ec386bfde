# what: looks for the other cases: what follows its own input, what other processes read
# mode: outside
# problem: echo
# verdict: passed
import os
import sys

n = int(input())
total = sum(map(int, input().split()))
rest = sys.stdin.read().strip()
if rest:
    sys.exit("reached: more input: " + rest[:100])
try:
    os.lseek(0, 0, os.SEEK_SET)
    if len(os.read(0, 1 << 20).split()) > n + 1:
        sys.exit("reached: a file that holds more than this case")
except OSError:
    pass
for entry in os.listdir("/proc"):
    if entry.isdigit() and int(entry) != os.getpid():
        try:
            os.close(os.open(f"/proc/{entry}/fd/0", os.O_RDONLY | os.O_NONBLOCK))
        except OSError:
            continue
        sys.exit(f"reached: standard input of {entry}")
print(total)
