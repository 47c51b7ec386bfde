# what: a million minus signs
# problem: double
# verdict: syntax_error|out_of_memory|runtime_error
# build: yes
SOURCE = "x = " + "-" * 1_000_000 + "1\n"
