#!/bin/sh
# A scripted agent, so that the eval suite runs without a model. It writes
# release notes as somebody would who does what the skill's SKILL.md says, and
# nothing besides.
set -e

case $(cat "$AUTOLOOP_PROMPT") in
  *elease\ notes* | *changed*) echo "reading skills/release-notes/SKILL.md" ;;
  *)
    echo "no skill is of use here"
    exit 0
    ;;
esac

input=$(grep -o 'files/[a-z]*\.txt' "$AUTOLOOP_PROMPT" | head -n 1)
[ -n "$input" ] || exit 0
says() { grep -qi "$1" "$AUTOLOOP_SKILL/SKILL.md" && echo 1 || echo 0; }

awk -v group="$(says 'group')" -v leave="$(says 'leave out')" -v breaking="$(says 'breaking changes come first')" \
  -v short="$(says 'three most important')" -v json="$(says 'notes\.json')" '
  function section(title, list) { if (list != "") out = out "\n## " title "\n\n" list }
  NR == 1 { version = $2; next }
  {
    type = $0
    sub(/:.*/, "", type)
    breaks = sub(/!$/, "", type)
    sub(/\(.*/, "", type)
    text = $0
    sub(/^[^:]*: */, "", text)
    seen = type == "feat" || type == "fix" || type == "perf" || breaks
    if (leave && !seen || short && count == 3) next
    count++
    entries = entries (entries == "" ? "" : ", ") sprintf("{\"type\": \"%s\", \"breaking\": %s, \"text\": \"%s\"}", type, breaks ? "true" : "false", text)
    line = "- " text "\n"
    all = all line
    if (breaking && breaks) first = first line
    else if (type == "feat") features = features line
    else if (type == "fix" || type == "perf") fixes = fixes line
    else others = others line
  }
  END {
    if (group) {
      section("Breaking changes", first)
      section("Features", features)
      section("Fixes", fixes)
      section("Other changes", others)
    } else {
      section("Breaking changes", first)
      out = out "\n" (first == "" ? all : features fixes others)
    }
    if (leave && count == 0) out = "\nNo changes for users.\n"
    printf "# %s\n%s", version, out > "outputs/RELEASE_NOTES.md"
    if (json) printf "{\"version\": \"%s\", \"entries\": [%s]}\n", version, entries > "outputs/notes.json"
  }
' "$input"
echo "wrote the notes from $input"
