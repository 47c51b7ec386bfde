# what: looks at its user and capabilities in the common process, where root would be worse
# mode: shared
# problem: double
# verdict: passed
import os

status = dict(line.rstrip("\n").split(":\t", 1) for line in open("/proc/self/status") if ":\t" in line)
reached = []
if 0 in os.getresuid() or 0 in os.getresgid() or 0 in os.getgroups():
    reached.append("root")
if int(status["CapEff"], 16) or int(status["CapPrm"], 16) or status["NoNewPrivs"].strip() != "1":
    reached.append("capabilities or the way to them")
for attempt in (lambda: os.setuid(0), lambda: os.close(os.open("/etc/left", os.O_CREAT)), lambda: os.kill(1, 9)):
    try:
        attempt()
        reached.append("root's rights")
    except OSError:
        pass


def double(x):
    if reached:
        raise RuntimeError("reached: " + ", ".join(reached))
    return 2 * x
