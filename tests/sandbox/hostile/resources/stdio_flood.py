# mode: outside
# what: prints numbers without end
# problem: echo
# verdict: output_limit
while True:
    print(7)
