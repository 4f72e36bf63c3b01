package program_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/program"
)

// TestSourcesThatNothingIsAreNamed: a command that names a source file that is not
// there cannot run, or does not run what was meant.
func TestSourcesThatNothingIsAreNamed(t *testing.T) {
	files := []string{"bench/run.sh", "eval.py", "src/a.go", "tools/b.js"}
	for name, c := range map[string]struct {
		front, script, word string // word is "" where nothing is said
		line                int
	}{
		"a file":                   {"", "python3 eval.py", "", 0},
		"misspelt":                 {"", "true\npython3 evla.py", "evla.py", 8},
		"in a directory":           {"", "sh bench/ran.sh", "bench/ran.sh", 7},
		"the end of a path":        {"", "cd bench && sh ./run.sh", "", 0},
		"the other directory":      {"", "cd bench && sh ../eval.py", "", 0},
		"setup":                    {"setup: sh prepare.sh", "true", "prepare.sh", 2},
		"agent-command":            {"agent-command: node agent.mjs", "true", "agent.mjs", 2},
		"written by setup":         {"setup: node tools/b.js > built.js", "node built.js", "", 0},
		"in what setup makes":      {"setup: npm ci", "node node_modules/x/y.js", "", 0},
		"beside what setup makes":  {"setup: npm ci", "node tools/y.js", "tools/y.js", 7},
		"shared":                   {"share: [.venv]", "python .venv/lib/x.py", "", 0},
		"written by the script":    {"", "cat > x.py <<'END'\n1\nEND\npython x.py", "", 0},
		"written with an option":   {"", "tsc -o out.js src/a.go\nnode out.js", "", 0},
		"below a variable":         {"", "sh \"$TOOLS/x.sh\" && sh $TOOLS/y.sh && sh ${A}/z.sh", "", 0},
		"elsewhere":                {"", "sh /opt/x.sh; curl https://example.com/a/y.js; sh ~/z.sh", "", 0},
		"a comment":                {"", "# see x.py\ntrue", "", 0},
		"a glob":                   {"", "wc -c lib/*.js x*.py", "", 0},
		"another ending":           {"", "gcc main.c", "", 0},
		"in quotes, and said once": {"", "sh \"x.sh\"; sh 'x.sh'", "x.sh", 7},
	} {
		t.Run(name, func(t *testing.T) {
			p := program.Parse(file, []byte("---\n"+c.front+"\n---\n- a\n## Evaluation\n"+fence+"sh\n"+c.script+"\n"+fence+"\n"))
			require.NoError(t, p.Err())
			found := p.Absent(files)
			if c.word == "" {
				assert.Empty(t, found)
				return
			}
			require.Len(t, found, 1)
			assert.Contains(t, found[0].Message, "`"+c.word+"`")
			assert.Equal(t, c.line, found[0].Line)
		})
	}
}
