"""Runs llama.cpp's own server: ``python llamacpp_server.py WEIGHTS PORT KEY SLOTS CONTEXT``. No nel here."""

import signal
import sys

import xllamacpp

weights, port, key, slots, context = sys.argv[1:]
parameters = xllamacpp.CommonParams()
parameters.model.path = weights
parameters.hostnames = ["127.0.0.1"]
parameters.port = int(port)
parameters.model_alias = {"smollm2-135m"}
parameters.n_parallel = int(slots)
parameters.n_ctx = int(context) * int(slots)
parameters.cpuparams.n_threads = 1
parameters.warmup = False
parameters.use_jinja = True
parameters.offline = True
parameters.verbosity = 0
parameters.api_keys = [key]
server = xllamacpp.Server(parameters)
signal.sigwait({signal.SIGTERM})
