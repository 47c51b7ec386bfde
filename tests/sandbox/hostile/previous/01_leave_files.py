# what: leaves files, folders and modules that shadow the standard library wherever it may write
# verdict: wrong
import os
import sys

version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
home = os.environ.get("HOME", "/tmp")
places = [".", "/tmp", "/dev/shm", "/dev/mqueue", "/var/tmp", "/run", "/run/lock", home, "/tmp/..", os.environ.get("TMPDIR", "/tmp")]
places += [f"{home}/.local/lib/{version}/site-packages", f"/tmp/.local/lib/{version}/site-packages", "/tmp/nel-left-dir/deep"]
for place in places:
    try:
        os.makedirs(place, exist_ok=True)
    except OSError:
        pass
    for name in ("nel-left-file", ".nel-left-hidden", "statistics.py", "usercustomize.py", "sitecustomize.py", "x.pth"):
        try:
            with open(os.path.join(place, name), "w") as file:
                file.write("NEL_LEFT = True\nimport builtins\nbuiltins.nel_left = 1\n")
            os.chmod(os.path.join(place, name), 0o666)
        except OSError:
            pass


def double(x):
    return None
