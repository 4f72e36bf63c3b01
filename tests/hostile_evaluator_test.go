package tests

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/long"
)

// judged is a project whose evaluation runs code of the target before and after
// it reads what it holds that code against.
func judged(t *testing.T, front, evaluation, agent string) *project {
	t.Helper()
	w := newProject(t, map[string]string{
		".autoloop/programs/p.md": "---\nmetric: m\nmetric_direction: lower\nevaluation-runs: 1\nagent: command\n" +
			"agent-command: sh \"$SIDE/agent.sh\"\nenv: [SIDE]\n" + front + "---\n" +
			"## Goal\nMove the number.\n## Target\n- `src/**`\n## Evaluation\n```sh\nsh bench.sh\n```\n",
		"bench.sh":   "set -e\n" + evaluation + "\n", // A file that the program names itself may not change at all.
		"src/run.sh": "echo 5 > \"$TMPDIR/answer\"\n", "expected.txt": "0\n", "report.txt": "none\n",
		"ev.sh": "printf '{\"m\": %s}\\n' \"$(($(cat \"$TMPDIR/answer\") - $(cat expected.txt)))\"\n",
	})
	w.aside("agent.sh", "set -e\n"+agent+"\n")
	return w
}

const judge = "sh src/run.sh before\nsh ev.sh\nsh src/run.sh after"

// TestEvaluationChangesItsOwnFiles: what the unchanged files do to them too
// is no fault of a candidate; that it could hide behind it is said.
func TestEvaluationChangesItsOwnFiles(t *testing.T) {
	long.Only(t, long.Hostile)
	t.Parallel()
	evaluation := "chmod +x ev.sh\nsh src/run.sh\ncat \"$TMPDIR/answer\" > report.txt\n./ev.sh"
	w := judged(t, "", evaluation,
		`n=$(cat "$SIDE/n" 2>/dev/null || echo 4); echo "echo $n > \"\$TMPDIR/answer\"" > src/run.sh; echo 3 > `+
			`"$SIDE/n"`)
	w.run(w.dir, "sed", "-i", "1i #!/bin/sh", "ev.sh")
	w.commit("a script")
	for range 2 { // The second has no baseline in the same process.
		got := w.one()
		require.Equal(t, "accepted", got.Outcome, got.Reasons)
		assert.Contains(t, got.warned(), "the evaluation writes to files of the")
		assert.NotContains(t, got.warned(), "ev.sh")
	}
	w.aside(
		"agent.sh",
		"cat > src/run.sh <<'END'\necho 9 > \"$TMPDIR/answer\"; printf '#!/bin/sh\\necho \"{\\\"m\\\": "+
			"1}\"\\n' > ev.sh\nEND\n",
	)
	got := w.one()
	assert.Equal(t, "rejected", got.Outcome)
	assert.Contains(t, got.why(), `the evaluator while it ran: "ev.sh"`,
		"its mode changes by itself, its content does not")
}

// TestIsolatedEvaluatorsAreReadOnly: isolated, a candidate cannot write to what it
// is measured by, nor replace it; the number is that of the evaluator as it was
// built. What the evaluation writes itself it still can.
func TestIsolatedEvaluatorsAreReadOnly(t *testing.T) {
	long.Only(t, long.Hostile)
	const answer = "echo 4 > \"$TMPDIR/answer\"\n"
	for name, run := range map[string]string{
		"rewrites the script":         `echo 'echo "{\"m\": 1}"' > ev.sh`,
		"rewrites what is expected":   `echo 4 > expected.txt`,
		"another file under its name": `echo 4 > "$TMPDIR/new"; mv -f "$TMPDIR/new" expected.txt`,
		"rewrites what is shared":     `echo 4 > lib/more.txt; echo 4 > lib/new.txt`,
		"removes it":                  `rm -f expected.txt ev.sh; rm -rf lib`,
		"through its permissions":     `chmod 777 ev.sh expected.txt . ; echo 4 > expected.txt`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := judged(t, "share: [lib]\n",
				judge+"\ncat \"$TMPDIR/answer\" > report.txt; mkdir -p build; echo x > build/out",
				"cat > src/run.sh <<'END'\n"+answer+"{ "+run+"; } 2>/dev/null || true\nEND").isolated()
			w.write(".gitignore", "lib/\n")
			w.commit("ignore")
			w.write("lib/more.txt", "0\n")
			got := w.one()
			require.Equal(t, "accepted", got.Outcome, got.Reasons)
			assert.Equal(t, "4", text(got.Metric))
			assert.Contains(t, got.warned(), "the evaluation writes to files of the")
			assert.Equal(t, map[string]any{"report.txt": true}, w.facts("measured")[0]["evaluator_writes"])
		})
	}
}

// TestEvaluatorIsWatchedIsolated: moving a directory away moves what is
// read-only in it too, and is found out.
func TestEvaluatorIsWatchedIsolated(t *testing.T) {
	long.Only(t, long.Hostile)
	t.Parallel()
	w := judged(t, "", judge+"\nsh lib/ev.sh",
		"cat > src/run.sh <<'END'\necho 4 > \"$TMPDIR/answer\"; [ -d kept ] || { mv lib kept; mkdir lib; echo 'echo "+
			"\"{\\\"m\\\": 1}\"' > lib/ev.sh; }\nEND").isolated()
	w.write("lib/ev.sh", w.read("ev.sh"))
	w.commit("lib")
	got := w.one()
	assert.Equal(t, "rejected", got.Outcome)
	assert.Contains(t, got.why(), `the evaluator while it ran: "lib/ev.sh"`)
}

// TestManyFilesOfTheEvaluator: of more files than can be made read-only, a change of the
// others is found.
func TestManyFilesOfTheEvaluator(t *testing.T) {
	long.Only(t, long.Hostile)
	t.Parallel()
	const many, few = 1010, 10 // more than can be made read-only
	evaluation := judge + "\necho x > busy/made"
	w := judged(t, "", evaluation, `cp "$SIDE/run.sh" src/run.sh`).isolated()
	for dir, files := range map[string]int{"busy": many, "data/all": few} {
		for i := range files {
			w.write(fmt.Sprintf("%s/%04d.txt", dir, i), "0\n")
		}
	}
	w.write("ev.sh", strings.ReplaceAll(w.read("ev.sh"), "expected.txt", "data/all/0009.txt"))
	w.commit("many")
	try := func(answer, attack string) iteration {
		script := "echo " + answer + " > \"$TMPDIR/answer\"\n{ " + attack + "; } 2>/dev/null || true\n"
		w.aside("run.sh", script)
		return w.one()
	}
	got := try("4", "true")
	require.Equal(t, "accepted", got.Outcome, got.Reasons)
	assert.Equal(t, "4", text(got.Metric))
	for attack, found := range map[string]string{
		"echo 4 > data/all/0009.txt":              "data/all/0009.txt",
		"rm -rf data/all; mv data/all data/moved": "data/all/0000.txt",
		"echo 4 > busy/1009.txt":                  "busy/1009.txt",
	} {
		got := try("3", attack)
		assert.Equal(t, "rejected", got.Outcome, attack)
		assert.Contains(t, got.why(), `changed the evaluator while it ran: "`+found+`"`)
	}
}
