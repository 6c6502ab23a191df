# The harness as an image, for CI systems whose jobs run in images: `conform run …` in a folder with a config.
ARG BASE=node:24-bookworm-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6
FROM ${BASE} AS package

WORKDIR /build
COPY . .
# No install script runs, here or below: what is needed comes ready made. `--ignore-scripts` skips `prepack` as well.
RUN npm ci --ignore-scripts --no-audit --no-fund && node harness/cli/package/build.ts && npm pack --ignore-scripts

FROM ${BASE}
COPY --from=package /build/conform-*.tgz /tmp/
RUN npm install --global --ignore-scripts --no-audit --no-fund /tmp/conform-*.tgz \
  @pact-foundation/pact-core@20 testcontainers@12 @redis/client@6 \
  && rm /tmp/conform-*.tgz && npm cache clean --force

# Not as root. A number, so that platforms which forbid root can tell.
USER 1000:1000
WORKDIR /work
# No entry point: CI systems put a shell of their own there.
CMD ["conform", "--help"]
