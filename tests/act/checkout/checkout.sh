# Checks out the commit $REF into $INTO, and leaves no credentials behind.
set -euo pipefail

mkdir -p "$GITHUB_WORKSPACE/$INTO"
cd "$GITHUB_WORKSPACE/$INTO"
git init --quiet .
git remote add origin "$GITHUB_SERVER_URL/$GITHUB_REPOSITORY"
login=$(printf 'x-access-token:%s' "$TOKEN" | base64 -w0)
git -c "http.extraheader=Authorization: Basic $login" fetch --quiet origin '+refs/heads/*:refs/remotes/origin/*'
git checkout --quiet --detach "$REF"
