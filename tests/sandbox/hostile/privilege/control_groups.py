# what: raises its limits in the control groups, leaves them, and makes groups of its own
# probe: yes
import os

reached = []
for folder, folders, names in os.walk("/sys/fs/cgroup"):
    for name in names:
        if os.access(os.path.join(folder, name), os.W_OK):
            reached.append(os.path.join(folder, name))
    if os.access(folder, os.W_OK):
        reached.append(folder)
    try:
        os.mkdir(folder + "/left")
        reached.append(folder + "/left")
    except OSError:
        pass
    if folder.count("/") > 6:
        folders.clear()
