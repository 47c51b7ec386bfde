# what: fields of every templating language
# problem: double
# verdict: passed
# build: yes
SOURCE = "a = '{} {0} {tests} %s %(tests)s ${tests} {{ tests }} {% raw %} \\x7b \\\\ $1 \\g<0>'\n\n\ndef double(x):\n    return 2 * x if len(a) > 50 else a\n"
