# what: looks for processes of the program before, dying and dead ones too
# probe: yes
import os


def left():
    allowed = {os.getpid(), os.getppid(), 1}
    for entry in os.listdir("/proc"):
        if not entry.isdigit() or int(entry) in allowed:
            continue
        try:
            with open(f"/proc/{entry}/stat") as file:
                text = file.read()
        except OSError:
            continue
        if "nel-left" in text or text.rpartition(")")[2].split()[0] == "Z":
            yield text[:60]


reached = list(left())
