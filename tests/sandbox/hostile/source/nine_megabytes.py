# what: more source than any limit allows, with a wrong answer at its end
# verdict: wrong|runtime_error|syntax_error|out_of_memory
# build: yes
SOURCE = "# " + "a" * 9_000_000 + "\n\n\ndef double(x):\n    return x\n"
