package tests

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/long"
)

// standInClaude speaks as the command line of Claude Code does. By what it is asked it
// improves the skill minutes, works on its cases, takes it up for a query or not,
// grades, and works on tasks by what CLAUDE.md says.
const standInClaude = `#!/bin/sh
test "$*" = --version && { echo "2.1.197 (Claude Code)"; exit; }
prompt=$(cat)
asked() { printf '%s' "$prompt" | grep -q "$1"; }
said() { printf '{"type":"assistant","message":{"content":[{"type":"tool_use","name":"%s","input":%s}]}}\n' "$1" "$2"; }
end() { printf '{"type":"result","subtype":"success","num_turns":2,"result":"%s","total_cost_usd":0.01,"modelUsage":{"m":{"inputTokens":100,"outputTokens":50}}}\n' "$1"; }
case "$*" in *stream-json*) ;; *)
	if asked '"score"'; then answer='{"score": 0.5, "rationale": "well done"}'; asked '^+- ' && answer='{"score": 0.9, "rationale": "very well done"}'
	else
		passed=false; asked 'Owner' && passed=true
		answer='{"expectations": [{"number": 1, "passed": '$passed', "evidence": "seen in the minutes"}], "eval_feedback": {"suggestions": [{"assertion": "Each action has an owner", "reason": "a table without names passes too"}], "overall": "Check the date_of the meeting."}}'
	fi
	printf '{"result": "%s", "total_cost_usd": 0.001, "modelUsage": {"m": {}}}\n' "$(printf '%s' "$answer" | sed 's/"/\\"/g')"; exit;;
esac
if asked 'Improve the skill'; then
	printf '%s' "$prompt" > "$SIDE/prompt-$(grep -c '^put: ' SKILL.md)"
	case $(grep -c '^put: ' SKILL.md) in
	0) echo 'put: Attendees Decisions' >> SKILL.md; end "Name who was there";;
	1) printf 'put: Actions Owner\n' >> SKILL.md; sed -i 's/^description: .*/description: Minutes of a meeting/' SKILL.md; end "Give actions an owner";;
	2) echo 'put: Date' >> SKILL.md; end "Add the date";;
	*) echo 'a remark' >> SKILL.md; end "Change nothing of use";;
	esac
elif asked 'Write the minutes'; then
	mkdir -p outputs; sed -n 's/^put: //p' .claude/skills/minutes/SKILL.md > outputs/minutes.md; cat files/t*.txt >> outputs/minutes.md; end "written"
elif asked 'meeting' && test -e .claude/skills/minutes/SKILL.md; then
	grep -q '^description: .*meeting' .claude/skills/minutes/SKILL.md && said Skill '{"skill": "minutes"}'; end "answered"
elif asked 'slug'; then
	printf 'tr " " "-"\n' > slug.sh; grep -qi 'lower case' CLAUDE.md && printf 'tr "A-Z " "a-z-"\n' > slug.sh; said Write '{"file_path": "slug.sh"}'; end "fixed"
elif asked 'option'; then
	echo 'verbose' >> options.txt; grep -qi changelog CLAUDE.md && echo '- new option verbose' >> CHANGELOG.md; said Edit '{"file_path": "options.txt"}'; end "added"
else end "done"; fi
`

// withClaude puts a program called claude into PATH, with a key.
func (w *project) withClaude() {
	w.t.Helper()
	bin := filepath.Join(w.side, "bin")
	require.NoError(w.t, os.MkdirAll(bin, 0o755))
	require.NoError(w.t, os.WriteFile(filepath.Join(bin, "claude"), []byte(standInClaude), 0o755))
	w.finds(bin)
	w.env = append(w.env, "ANTHROPIC_API_KEY=key")
}

// minutesProject has a skill as people publish them: cases with inputs, assertions for
// a grader, checks, and trigger queries.
func minutesProject(t *testing.T) *project {
	t.Helper()
	w := newProject(t, map[string]string{"README.md": "skills\n"})
	var cases []map[string]any
	for i, word := range []string{"Attendees", "Decisions", "Actions", "Owner", "Date", "Attendees", "Ana"} {
		one := map[string]any{
			"id": i + 1, "name": fmt.Sprintf("case-%d", i+1), "prompt": "Write the minutes of the transcript.",
			"expected_output":      "Minutes in outputs/minutes.md.",
			"files":                []string{fmt.Sprintf("files/t%d.txt", i+1)},
			"deterministic_checks": []any{map[string]any{"type": "file_contains", "file": "minutes.md", "text": word}},
		}
		if i >= 5 {
			one["assertions"] = []any{map[string]any{"text": "Each action has an owner", "kind": "manual"}}
		}
		cases = append(cases, one)
		w.write(fmt.Sprintf("skills/minutes/evals/files/t%d.txt", i+1),
			"Ana: we ship on Friday. Bo: I write the notes.\n")
	}
	evals, err := json.Marshal(map[string]any{"skill_name": "minutes", "version": "0.1.0", "evals": cases})
	require.NoError(t, err)
	w.write("skills/minutes/SKILL.md",
		"---\nname: minutes\ndescription: Writes summaries\n---\n# Minutes\n\nWrite minutes.\n")
	w.write("skills/minutes/references/style.md", "Short sentences.\n")
	w.write("skills/minutes/evals/evals.json", string(evals))
	w.write("skills/minutes/evals/trigger-eval.json",
		`[{"query": "Sum up our meeting.", "should_trigger": true}, {"query": "Notes of the meeting, please.", `+
			`"should_trigger": true}, {"query": "Write a poem.", "should_trigger": false}]`)
	w.commit("a skill")
	w.withClaude()
	return w
}

// TestProjectOfASkill takes a skill with seven cases and trigger queries from its
// validation to its application, and back.
func TestProjectOfASkill(t *testing.T) {
	long.Only(t, long.Examples)
	t.Parallel()
	w := minutesProject(t)
	a := w.binary("iterate", "validate", "skills/minutes")
	require.Zero(t, a.code, a.stdout+a.stderr)
	assert.Contains(t, a.stdout,
		"case 7: 1 expectation, 1 deterministic check, 1 file\ntriggers: 3 queries\nminutes: ok\n")

	before := w.state("skills/minutes")
	a = w.ok("iterate", "skill", "skills/minutes", "--agent", "claude-code", "--judge", "cli", "--settings",
		w.settings(), "-n", "5")
	assert.Contains(t, a.stdout, `iteration 0: baseline, 0.0714: Initial evaluation
iteration 1: kept, 0.429: Name who was there — unverified: measured once
iteration 2: kept, 0.857: Give actions an owner — unverified: measured once
iteration 3: kept, 1: Add the date — unverified: measured once
minutes: perfect; the best is v3 in `)
	assert.Contains(t, a.stderr, "iteration 2: 7 of 7 cases: ")
	assert.Contains(t, a.stderr, "trigger queries of v3: 3 of 3 cases: ")
	assert.Contains(t, a.stdout,
		"## What the grader would improve in the suite\n\n- 6, 7: Each action has an owner: a table without names "+
			"passes too\n- 6, 7: Check the date\\_of the meeting.\n")
	assert.Equal(t, before, w.state("skills/minutes"), "nobody agreed yet")
	a = w.ok("iterate", "log", "skills/minutes")
	assert.Contains(t, a.stdout, "- v0: 0.333, 1 of 3 right\n")
	assert.Contains(t, a.stdout, "- v3: 1, 3 of 3 right\n")
	assert.Contains(t, a.stdout, "Recommendation: **apply**")
	w.ok("iterate", "apply", "skills/minutes", "--yes")
	assert.Equal(t, "---\nname: minutes\ndescription: Minutes of a meeting\n---\n# Minutes\n\nWrite minutes.\n"+
		"put: Attendees Decisions\nput: Actions Owner\nput: Date\n", w.read("skills/minutes/SKILL.md"))
	w.ok("iterate", "undo", "skills/minutes", "--yes")
	assert.Equal(t, before, w.state("skills/minutes"))
}
