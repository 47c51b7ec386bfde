# what: matches a pattern that takes exponential time
# problem: strings
# verdict: timeout
import re


def mirror(text):
    re.match(r"(a+)+$", "a" * 60 + "b")
    return text + text[::-1]
