# what: prints without end
# mode: stdio
# problem: echo
# verdict: output_limit
yes
