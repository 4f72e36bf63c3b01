# Brings artifacts of this run back from $ACT_ARTIFACTS/RUN/NAME.
set -euo pipefail
shopt -s nullglob

from=$ACT_ARTIFACTS/$GITHUB_RUN_ID
to=${TO:-$GITHUB_WORKSPACE}
mkdir -p "$to"
if [ -n "$NAME" ]; then
  [ -d "$from/$NAME" ] || { echo "::error::Unable to download artifact(s): Artifact not found for name: $NAME"; exit 1; }
  cp -R "$from/$NAME/." "$to"
  exit
fi
for one in "$from"/*/; do
  one=${one%/} name=$(basename "$one")
  # shellcheck disable=SC2254 # It is a pattern.
  case $name in
  ${PATTERN:-*}) ;;
  *) continue ;;
  esac
  into=$to/$name
  [ "$MERGE" != true ] || into=$to
  mkdir -p "$into"
  cp -R "$one/." "$into"
done
