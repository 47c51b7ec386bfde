# what: returns a Counter, which equals a dict
# problem: counts
# verdict: passed
from collections import Counter


def letters(text):
    return Counter(text)
