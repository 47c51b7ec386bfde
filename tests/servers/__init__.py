"""nel against servers that people run: llama.cpp, vLLM and LiteLLM; `make test-servers`."""
