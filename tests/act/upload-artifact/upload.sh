# Keeps the files of an artifact below $ACT_ARTIFACTS/RUN/NAME.
set -euo pipefail

fail() {
  printf '::error::%s\n' "$1"
  exit 1
}

case $NAME in
"" | *[\":\<\>\|\*\?$'\r\n'\\/]*) fail "an artifact may not have that name" ;;
esac
to=$ACT_ARTIFACTS/$GITHUB_RUN_ID/$NAME
if [ -e "$to" ]; then
  [ "$OVERWRITE" = true ] || fail "(409) Conflict: an artifact of this name already exists"
  rm -rf "$to"
fi

# A line is a file, a directory or a pattern.
found=()
while IFS= read -r line; do
  [ -n "$line" ] || continue
  while IFS= read -r match; do
    found+=("$(realpath -- "$match")")
  done < <(compgen -G "$line" || true)
done <<<"$FILES"
if [ ${#found[@]} -eq 0 ]; then
  [ "$NONE" != error ] || fail "no files were found with the provided path"
  [ "$NONE" != warn ] || echo "::warning::no files were found with the provided path"
  exit 0
fi

# Paths in the artifact begin below the deepest directory that holds them all.
root=${found[0]}
[ -d "$root" ] || root=$(dirname "$root")
for one in "${found[@]}"; do
  while [ "$one" != "$root" ] && [ "${one#"$root"/}" = "$one" ]; do
    root=$(dirname "$root")
  done
done

hidden=(-name '.?*' -prune -o)
[ "$HIDDEN" != true ] || hidden=()
part=$(mktemp -d "$ACT_ARTIFACTS/upload.XXXXXX")
cd "$root"
for one in "${found[@]}"; do
  one=.${one#"$root"}
  find "$one" "${hidden[@]}" -type f -print0
done | tar --null --no-recursion -T - -cf - | tar -C "$part" -xf -
find "$part" -type f -exec chmod 644 {} +
chmod 755 "$part"
mkdir -p "$(dirname "$to")"
mv "$part" "$to"
echo "$(find "$to" -type f | wc -l) files"
