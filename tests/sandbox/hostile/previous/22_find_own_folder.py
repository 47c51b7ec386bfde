# what: writes and reads in its working, home and temporary folder, which must be its own and empty
# probe: yes
import os
import tempfile

reached = []
for folder in {os.getcwd(), os.environ.get("HOME") or os.getcwd(), tempfile.gettempdir()}:
    if os.path.realpath(folder).startswith("/etc"):
        reached.append(folder + " is a link")
    path = os.path.join(folder, "own.txt")
    with open(path, "w") as file:
        file.write("own")
    if open(path).read() != "own":
        reached.append(path)
    os.unlink(path)
for name in os.listdir("."):
    if os.getcwd() not in ("/", "/tmp"):
        reached.append("a file in the working folder: " + name)
