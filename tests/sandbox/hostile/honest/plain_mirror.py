# what: the plain answer
# problem: strings
# verdict: passed
def mirror(text):
    return text + text[::-1]
