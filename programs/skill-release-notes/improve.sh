#!/bin/sh
# A scripted improver: each iteration adds the next of these rules to the skill.
# The second is a bad one, so that a run shows a revert too. It begins in the
# repository for a program, and in the skill for `iterate skill`.
set -e

[ -f SKILL.md ] || cd programs/skill-release-notes/skill
case $AUTOLOOP_ITERATION in
  1) rule='- Group the entries in sections: `## Features` for `feat`, then `## Fixes` for `fix` and `perf`.' ;;
  2) rule='- Keep to the three most important entries: nobody reads more.' ;;
  3) rule='- Leave out `chore`, `ci`, `test` and the like, which users do not see. When nothing is left, write `No changes for users.`' ;;
  4) rule='- Breaking changes come first, under `## Breaking changes`: the commits with a `!` before the colon. They stand nowhere else.' ;;
  5) rule='- Write `outputs/notes.json` too: `version`, and `entries`, a list with `type`, `breaking` and `text` of each entry.' ;;
  *)
    echo "there is no further rule"
    exit 0
    ;;
esac
echo "$rule" >>SKILL.md
echo "add a rule: ${rule#- }"
