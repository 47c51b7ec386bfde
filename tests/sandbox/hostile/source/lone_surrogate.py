# what: half a character in a comment and in a string, which no encoding can write
# verdict: syntax_error
# build: yes
SOURCE = "# \ud800\nname = '\udfff'\n\n\ndef double(x):\n    return 2 * x\n"
