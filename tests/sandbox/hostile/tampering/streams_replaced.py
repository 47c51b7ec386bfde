# what: replaces the standard streams by objects that fail, and answers right
# problem: double
# verdict: passed
import sys


class Failing:
    def __getattr__(self, name):
        raise OSError(name)


sys.stdout = Failing()
sys.stderr = sys.__stderr__ = None
sys.stdin.close()


def double(x):
    return 2 * x
