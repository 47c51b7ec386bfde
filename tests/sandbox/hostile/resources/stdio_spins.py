# what: never prints
# mode: stdio
# problem: echo
# verdict: timeout
while True:
    pass
