# what: names in other scripts, and strings of them
# problem: strings
# verdict: passed
ñandú = "ü"


class Größe:
    π = 3


def 翻转(文字):
    return 文字[::-1]


def mirror(text):
    assert Größe.π == 3 and ñandú
    return text + 翻转(text)
