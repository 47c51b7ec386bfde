# what: writes and reads in its working, home and temporary folder, which must be its own and empty
# problem: double
# verdict: passed
import os
import tempfile

found = []
for folder in {os.getcwd(), os.environ.get("HOME") or os.getcwd(), tempfile.gettempdir()}:
    if os.path.realpath(folder).startswith("/etc"):
        found.append(folder + " is a link")
    path = os.path.join(folder, "own.txt")
    with open(path, "w") as file:
        file.write("own")
    if open(path).read() != "own":
        found.append(path)
    os.unlink(path)
for name in os.listdir("."):
    if os.getcwd() not in ("/", "/tmp"):
        found.append("a file in the working folder: " + name)


def double(x):
    if found:
        raise RuntimeError("reached: " + "; ".join(found))
    return 2 * x
