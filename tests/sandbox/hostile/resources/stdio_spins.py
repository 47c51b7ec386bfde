# what: never prints
# mode: outside
# problem: echo
# verdict: timeout
while True:
    pass
