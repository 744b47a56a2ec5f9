# syntax=docker/dockerfile:1
# Builds the service and its tools.

ARG GO_VERSION=1.22
ARG REGISTRY=docker.io

FROM golang:${GO_VERSION}-alpine AS base
LABEL maintainer="team@example.com" \
      version="1.0"
WORKDIR /src
ENV CGO_ENABLED=0 \
    GOFLAGS=-trimpath
ENV LANG C.UTF-8
RUN apk add --no-cache \
    git \
    make

# Downloads what is needed.
FROM base AS deps
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod \
    go mod download

FROM deps AS build
ARG VERSION=dev
ARG COMMIT
COPY . .
RUN --mount=type=cache,target=/var/cache/app \
    go build -ldflags "-X main.version=${VERSION}" -o /out/app ./cmd/app

FROM build AS test
RUN go test ./...
RUN <<EOT
set -e
echo "FROM nothing AS fake"
go vet ./...
EOT

FROM --platform=linux/amd64 node:20-slim AS assets
WORKDIR /web
COPY web/package.json web/package-lock.json ./
RUN npm ci
COPY web/ .
RUN npm run build

FROM scratch
COPY --from=build /out/app /app
COPY --from=assets /web/dist /static
USER 65532:65532
EXPOSE 8080/tcp 9090
VOLUME ["/data"]
HEALTHCHECK --interval=30s CMD ["/app", "health"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["/app"]
CMD ["serve", "--port", "8080"]
ONBUILD RUN echo building
SHELL ["/bin/sh", "-c"]

FROM debian:12-slim AS debug
ARG DEBUG_PORT=2345
ENV DEBUG=1 TRACE=0
RUN apt-get update && apt-get install -y \
    strace \
    gdb \
 && rm -rf /var/lib/apt/lists/*
COPY --from=build /out/app /app
ADD https://example.com/tool.tar.gz /opt/
EXPOSE ${DEBUG_PORT}
CMD ["gdbserver"]

# Runs the end-to-end tests.
FROM mcr.example.com/playwright:v1 AS e2e
WORKDIR /e2e
COPY e2e/ .
ENV BASE_URL="http://app:8080"
RUN npm ci
CMD ["npx", "playwright", "test"]

FROM python:3.12 AS docs
ENV PIP_NO_CACHE_DIR=1
WORKDIR /docs
COPY docs/requirements.txt .
RUN pip install -r requirements.txt
COPY docs/ .
RUN mkdocs build --strict

FROM nginx:1.25@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa AS site
COPY --from=docs /docs/site /usr/share/nginx/html
COPY nginx.conf /etc/nginx/nginx.conf
EXPOSE 80
EXPOSE 443

FROM base AS lint
ARG LINT_VERSION=1.55
ENV LINT_HOME=/lint
RUN go install example.com/lint@v${LINT_VERSION}
RUN lint run \
    --timeout 5m \
    ./...

FROM base AS generate
ENV OUT=/gen
COPY proto/ proto/
RUN mkdir -p ${OUT} && \
    protoc --go_out=${OUT} proto/*.proto

FROM scratch AS artifacts
COPY --from=generate /gen /
COPY --from=build /out /bin
LABEL org.example.kind="artifacts"

FROM alpine:3.19 AS cron
ENV TZ=UTC
RUN apk add --no-cache tzdata
COPY crontab /etc/crontabs/root
CMD ["crond", "-f"]

FROM redis:7 AS cache
COPY redis.conf /etc/redis.conf
EXPOSE 6379
CMD ["redis-server", "/etc/redis.conf"]

FROM postgres:16 AS db
ENV POSTGRES_DB=app
ENV POSTGRES_USER=app
COPY schema.sql /docker-entrypoint-initdb.d/
HEALTHCHECK CMD pg_isready

FROM base AS bench
ENV BENCH_TIME=5s
RUN go test -bench . -benchtime ${BENCH_TIME} ./...

FROM build AS release
ARG SIGN_KEY
ENV RELEASE=1
RUN make release \
    KEY=${SIGN_KEY}
USER nobody
WORKDIR /release
ENTRYPOINT ["make"]
CMD ["publish"]

# The last stage is what is built by default.
FROM gcr.io/distroless/static AS final
ARG USER_ID=1000
ENV HOME=/home/app \
    TERM=dumb
COPY --from=release /release/app /app
USER ${USER_ID}
ENTRYPOINT ["/app"]
