# what: prints without end
# mode: outside
# problem: echo
# verdict: output_limit
yes
