# what: an expression of three million terms
# verdict: syntax_error|runtime_error|out_of_memory|timeout
# build: yes
SOURCE = "x = 1\ny = " + "+".join(["x"] * 3_000_000) + "\n"
