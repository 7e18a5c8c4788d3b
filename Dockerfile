# syntax=docker/dockerfile:1
# The daemon as an image: one static Swift binary and the shared libraries that it was linked with, nothing else. No
# shell, no package manager, no user but one without rights.
#
#   make image                                   builds reconciled:VERSION
#   docker build --target simulator .            builds the provider simulator instead
#
# There is one base. The libraries of the final image are taken out of the stage that linked against them, so build
# and run cannot drift apart. A tag can move; name the base that you tested by digest:
#   --build-arg BASE=docker.io/library/swift@sha256:…
ARG BASE=docker.io/library/swift:6.3.1-bookworm

# checkov:skip=CKV_DOCKER_7:The tag, or the digest, is in the argument.
FROM ${BASE} AS build
# Debian's security fixes replace versions within a release, so versions of packages are pinned by the base alone.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends \
        binutils ca-certificates git libcurl4-openssl-dev libpq-dev libsqlite3-dev pkg-config \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /source
# Dependencies are fetched before the sources are copied: a change of the sources does not fetch them again.
COPY Package.swift Package.resolved* ./
ENV SWIFT_DETERMINISTIC_HASHING=1
RUN swift package resolve
COPY Sources Sources
COPY Tests Tests
COPY openapi openapi
ARG FLAGS="--explicit-target-dependency-import-check error"
# Both in one layer: what a layer restores has other times than what the build remembers, and all would be built again.
# hadolint ignore=SC2086
RUN swift build --configuration release --static-swift-stdlib --product reconciled ${FLAGS} \
    && swift build --configuration release --static-swift-stdlib --product provider-simulator ${FLAGS}
COPY deploy/image/collect /usr/local/bin/
RUN collect .build/release/reconciled /image && collect .build/release/provider-simulator /simulator

FROM scratch AS simulator
COPY --from=build /simulator /
WORKDIR /var/lib/reconciled
USER 65532:65532
EXPOSE 8090
STOPSIGNAL SIGTERM
# It is a tool for tests; whoever runs it looks at its port.
HEALTHCHECK NONE
ENTRYPOINT ["/usr/bin/provider-simulator"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8090", "--providers", "card,points,balance"]

FROM scratch AS reconciled
ARG VERSION=unknown
ARG REVISION=unknown
ARG CREATED=1970-01-01T00:00:00Z
LABEL org.opencontainers.image.title="reconciled" \
    org.opencontainers.image.description="Takes payments across several providers and never leaves one in doubt" \
    org.opencontainers.image.licenses="Apache-2.0" \
    org.opencontainers.image.version="${VERSION}" \
    org.opencontainers.image.revision="${REVISION}" \
    org.opencontainers.image.created="${CREATED}"
COPY --from=build /image /
# The image has no program that could write a backtrace; looking for one would only delay the end.
ENV RECONCILED_CONFIG=/etc/reconciled/config/reconciled.yaml \
    SWIFT_BACKTRACE=enable=no
# The only place to write to, for an SQLite store: a volume. Everything else may be read-only.
WORKDIR /var/lib/reconciled
USER 65532:65532
EXPOSE 8080 8081
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
    CMD ["/usr/bin/reconciled", "healthcheck"]
ENTRYPOINT ["/usr/bin/reconciled"]
CMD ["serve"]
