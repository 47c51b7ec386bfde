# what: the classic fork bomb
# mode: outside
# problem: echo
# verdict: runtime_error|timeout|out_of_memory|wrong|output_limit
bomb() { bomb | bomb & }
bomb
wait
