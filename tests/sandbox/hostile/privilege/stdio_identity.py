# what: looks at its user, its capabilities and what it was given, as a script
# mode: outside
# problem: echo
# verdict: passed
import os
import sys

status = dict(line.rstrip("\n").split(":\t", 1) for line in open("/proc/self/status") if ":\t" in line)
given = [entry for entry in os.listdir("/proc/self/fd") if int(entry) > 2 and os.path.exists("/proc/self/fd/" + entry)]
if 0 in os.getresuid() or int(status["CapEff"], 16) or int(status["CapPrm"], 16) or status["NoNewPrivs"].strip() != "1":
    sys.exit("reached: rights")
if given:
    sys.exit(f"reached: descriptors {given}")
n = int(input())
print(sum(map(int, input().split())))
