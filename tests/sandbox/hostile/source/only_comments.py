# what: comments and no code
# problem: double
# verdict: runtime_error|no_code
# build: yes
SOURCE = "# def double(x): return 2 * x\n# the end\n"
