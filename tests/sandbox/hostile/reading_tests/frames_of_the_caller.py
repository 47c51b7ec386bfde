# what: walks the frames that called it and looks into all their variables
# verdict: passed
import re
import sys

MARKER = re.compile(r"expected-side-(\d{10})")


def found():
    frame = sys._getframe()
    while frame is not None:
        for place in (frame.f_locals, frame.f_globals):
            for name, value in list(place.items()):
                if name in ("tests", "expected") and type(value) in (str, bytes, list, dict):
                    return f"{name} in {frame.f_code.co_name}"
                if type(value) is str and MARKER.search(value):
                    return value[:200]
        if any(type(item) is str and MARKER.search(item) for item in frame.f_code.co_consts):
            return f"constants of {frame.f_code.co_name}"
        frame = frame.f_back
    return None


def double(x):
    leak = found()
    if leak:
        raise RuntimeError("reached: " + leak)
    return 2 * x
