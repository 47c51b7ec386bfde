# what: names in other scripts and in look-alike letters that Python takes for the same
# problem: double
# verdict: passed
# build: yes
SOURCE = "größe = 2\n\n\ndef \U0001d41d\U0001d428\U0001d42e\U0001d41b\U0001d425\U0001d41e(数):\n    return größe * 数\n"
