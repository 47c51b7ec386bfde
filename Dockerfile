# nel itself as an image:  docker build -t nel .   docker run --rm -v "$PWD/eval_results:/data/eval_results" nel eval run ...
# BASE can be any image with Python 3.11 or newer and pip.
ARG BASE=python:3.12-slim
FROM ${BASE}
WORKDIR /src
COPY pyproject.toml README.md LICENSE CHANGELOG.md ./
COPY nel ./nel
RUN python3 -m venv /opt/nel && /opt/nel/bin/pip install --no-cache-dir ".[hf,parquet]" && rm -rf /src
ENV PATH=/opt/nel/bin:$PATH
RUN useradd --create-home --uid 10001 nel && mkdir -p /data && chown nel /data
USER nel
WORKDIR /data
ENTRYPOINT ["nel"]
CMD ["--help"]
