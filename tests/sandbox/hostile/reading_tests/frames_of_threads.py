# what: walks the frames of all threads and the code objects they run
# problem: double
# verdict: passed
import re
import sys
import threading

MARKER = re.compile(r"expected-side-(\d{10})")
leaks = []


def look(main):
    for frame in sys._current_frames().values():
        while frame is not None:
            texts = [item for item in frame.f_code.co_consts if type(item) is str]
            texts += [repr(value) for value in list(frame.f_locals.values()) if type(value) in (str, bytes, list)]
            leaks.extend(text[:200] for text in texts if MARKER.search(text))
            frame = frame.f_back


def double(x):
    thread = threading.Thread(target=look, args=(threading.main_thread(),))
    thread.start()
    thread.join()
    if leaks:
        raise RuntimeError("reached: " + leaks[0])
    return 2 * x
