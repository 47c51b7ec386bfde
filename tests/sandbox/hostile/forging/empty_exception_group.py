# what: raises exceptions that cannot be made again from their arguments
# problem: double
# verdict: runtime_error|wrong
class Odd(UnicodeDecodeError):
    def __init__(self):
        super().__init__("utf-8", b"x", 0, 1, "odd")
        self.args = ()


def double(x):
    if x == 2:
        error = ExceptionGroup("g", [ValueError(1)])
        error.args = ("g", [])
        raise error
    raise Odd
