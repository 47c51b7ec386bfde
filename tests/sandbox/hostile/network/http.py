# what: downloads by the library that a model would use
# problem: double
# verdict: passed
import urllib.request

try:
    text = urllib.request.urlopen("http://example.com/", timeout=0.5).read()
except OSError:
    text = b""


def double(x):
    if text:
        raise RuntimeError("reached: example.com")
    return 2 * x
