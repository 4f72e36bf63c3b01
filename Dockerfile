# scheduler and iterate in a small image: static binaries, git, what signs commits, certificates.
# docs/howto/container.md shows it under cron, in a job, and as a base of your own.
FROM --platform=$BUILDPLATFORM golang:1.26-alpine@sha256:0178a641fbb4858c5f1b48e34bdaabe0350a330a1b1149aabd498d0699ff5fb2 AS build
# git, for the version that is stamped into the binaries.
RUN apk add --no-cache git
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG TARGETOS
ARG TARGETARCH
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath -ldflags=-s -o /out/ ./cmd/scheduler ./cmd/iterate

FROM alpine:3.22@sha256:14358309a308569c32bdc37e2e0e9694be33a9d99e68afb0f5ff33cc1f695dce
# bash, since evaluations are bash scripts; gnupg and ssh-keygen for AUTOLOOP_SIGN.
RUN apk add --no-cache bash ca-certificates git gnupg openssh-keygen
COPY LICENSE /usr/share/licenses/autoloop/LICENSE
COPY --from=build /out/scheduler /out/iterate /usr/local/bin/
# The user id of GitHub's runners, whose workspace it must be able to write.
RUN adduser -D -u 1001 autoloop && install -d -o autoloop /work
USER 1001
WORKDIR /work
ENTRYPOINT ["iterate"]
CMD ["--help"]
