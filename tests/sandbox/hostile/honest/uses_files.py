# what: writes and reads temporary files and its home
# problem: strings
# verdict: passed
import os
import pathlib
import tempfile

path = pathlib.Path(os.path.expanduser("~")) / "note.txt"
path.write_text("kept", encoding="utf-8")


def mirror(text):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "text"
        file.write_bytes(text.encode())
        again = file.read_bytes().decode()
    assert path.read_text() == "kept"
    return text + again[::-1]
