# what: runs su, sudo, mount and ping, and a set-user copy of the shell that it makes
# probe: yes
import os
import shutil
import subprocess

reached = []
for command in (["su", "-c", "id -u"], ["sudo", "-n", "id", "-u"], ["newgrp"], ["mount", "-t", "tmpfs", "x", "/mnt"], ["pkexec", "id", "-u"]):
    try:
        done = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, timeout=1)
    except (OSError, subprocess.TimeoutExpired):
        continue
    if done.stdout.strip() == b"0" or (command[0] == "mount" and done.returncode == 0):
        reached.append(command[0])
try:
    shutil.copy("/bin/sh", "/tmp/set-user")
    os.chmod("/tmp/set-user", 0o6755)
    if subprocess.run(["/tmp/set-user", "-p", "-c", "id -u"], capture_output=True).stdout.strip() == b"0":
        reached.append("a copy of the shell")
except OSError:
    pass
