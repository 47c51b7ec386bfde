# what: a chain of a hundred thousand attributes, for which the compiler recurses
# problem: double
# verdict: syntax_error|runtime_error|out_of_memory
# build: yes
SOURCE = "x = a" + ".a" * 100_000 + "\n"
