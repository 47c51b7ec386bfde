# nel itself as an image: docs/how-to/run-in-a-container.md
#   docker build -t nel .
#   docker run --rm --read-only --tmpfs /tmp --user "$(id -u):$(id -g)" -v "$PWD:/data" nel eval run nel.yaml
# BASE can be any image with Python 3.11 or newer. Where the build reaches no index, `make image` puts wheels beside it.
ARG BASE=python:3.12-slim
FROM ${BASE} AS build
ARG EXTRAS=hf,metrics
WORKDIR /src
COPY pyproject.toml README.md LICENSE CHANGELOG.md ./
COPY nel ./nel
COPY sandbox_images ./sandbox_images
COPY plugins/nel-example ./plugins/nel-example
# LICENSE stands there so that something is copied where there are no wheels.
COPY LICENSE wheel[s] /wheels/
RUN if ls /wheels/nel_eval-*.whl >/dev/null 2>&1; then \
      python3 -m venv --without-pip /opt/nel \
      && /opt/nel/bin/python "$(ls /wheels/pip-*.whl)/pip" install --no-index --find-links /wheels --no-cache-dir \
        "nel-eval[${EXTRAS}]"; \
    else \
      python3 -m venv /opt/nel && /opt/nel/bin/pip install --no-cache-dir ".[${EXTRAS}]" ; \
    fi

FROM ${BASE}
COPY --from=build /opt/nel /opt/nel
# Numbers instead of names, so that any base image and --user will do; HOME is where a read-only container may write.
RUN mkdir -p /data && chown 10001:10001 /data
ENV PATH=/opt/nel/bin:$PATH HOME=/tmp PYTHONUNBUFFERED=1
USER 10001:10001
WORKDIR /data
ENTRYPOINT ["nel"]
CMD ["--help"]
