# what: returns an OrderedDict with its keys backwards
# problem: counts
# verdict: passed
from collections import OrderedDict


def letters(text):
    return OrderedDict((letter, text.count(letter)) for letter in reversed(text))
