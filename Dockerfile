# The harness as an image, for CI systems whose jobs run in images: `conform run …` in a folder with a config.
ARG BASE=node:24-bookworm-slim
FROM ${BASE}

WORKDIR /opt/conform
COPY package.json package-lock.json ./
# The base brings Node; none of what remains needs to be built or set up.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund && npm cache clean --force
COPY config/ config/
COPY harness/ harness/
COPY suites/ suites/
RUN ln -s /opt/conform/harness/cli/main.ts /usr/local/bin/conform

# Not as root. A number, so that platforms which forbid root can tell.
USER 1000:1000
WORKDIR /work
# No entry point: CI systems put a shell of their own there.
CMD ["conform", "--help"]
