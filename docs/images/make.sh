#!/usr/bin/env bash
# Takes the README's pictures of the demo anew. It needs Go, git, node, npm and
# chromium: docs/images/make.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
work=$(mktemp -d "${TMPDIR:-/tmp}/autoloop-pictures.XXXXXX")
trap 'rm -rf "$work"' EXIT
npm ci --prefix tests/npm-page --no-audit --no-fund --loglevel=error
go build -o "$work/iterate" ./cmd/iterate
"$work/iterate" demo -n 9 --dir "$work/round" >/dev/null
"$work/iterate" demo -n 4 --dir "$work/courier" >"$work/printed"
sed -i.bak "s|$work/courier|/tmp/autoloop-demo|g" "$work/printed"
CHROMIUM=${CHROMIUM:-$(command -v chromium)} node tests/npm-page/pictures.js "$work/round/autoloop.html" "$work/printed" docs/images
