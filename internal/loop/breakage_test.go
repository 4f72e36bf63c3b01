package loop

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/loop/evaluation"
	"github.com/org/autoloop/internal/process"
)

// TestBrokenTargetsAreNoticed: a doctor breaks what the evaluation needs, and says
// when that makes no difference, or a better number.
func TestBrokenTargetsAreNoticed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script          string
		emptied, broken Breakage
	}{
		"refused": {
			`test -s src/a.sh && echo '{"m": 1, "n": 2}' || echo '{"m": null, "rejected_reason": "no test ran"}'`,
			Breakage{Problem: "no test ran"},
			Breakage{Unnoticed: true},
		},
		"a guardrail": {
			`echo "{\"m\": 1, \"n\": $(wc -l < src/a.sh)}"`,
			Breakage{Problem: "guardrail n"},
			Breakage{Unnoticed: true},
		},
		"noticed": {
			"sh -n src/a.sh; grep -c x src/a.sh",
			Breakage{Problem: "exit code 1"},
			Breakage{Problem: "exit code 2"},
		},
		"a gain": {"echo $((100 - $(wc -c < src/a.sh)))", Breakage{Gain: true}, Breakage{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, "", "1")
			front := ""
			if strings.Contains(name, "guardrail") {
				front = "guardrails: [{metric: n, direction: higher}]\n"
			}
			text := strings.NewReplacer("cat value.txt", c.script, "`value.txt`", "`src/a.sh`\n- `src/*`", "%s\n",
				front).Replace(bedProgram)
			b.commit(map[string]string{
				".autoloop/programs/p.md": text, "src/a.sh": "x=1\n", "src/b.sh": ":\n",
				"other.sh": "a file that is larger\n",
			})
			b.service = b.newService(text)
			b.service.Eval = &evaluation.Evaluator{Runner: &process.Runner{}}
			before := b.refs()
			found, err := b.service.Inspect(t.Context(), EnoughRuns, Emptied, Nonsense)
			require.NoError(t, err)
			require.Len(t, found.Broken, 2)
			for i, want := range []Breakage{c.emptied, c.broken} {
				got := found.Broken[i]
				assert.Equal(t, "src/a.sh", got.File)
				assert.Equal(t, []string{Emptied, Nonsense}[i], got.How)
				assert.Contains(t, got.Problem, want.Problem)
				assert.Equal(t, want.Problem != "", got.Problem != "", got.Problem)
				assert.Equal(t, want.Unnoticed, got.Unnoticed, "%s: %v", got.How, got.Metric)
				assert.Equal(t, want.Gain, got.Gain, "%s: %v", got.How, got.Metric)
			}
			assert.Equal(t, before, b.refs(), "nothing is written")
			repeated, err := b.service.Inspect(t.Context(), 0)
			require.NoError(t, err)
			assert.Empty(t, repeated.Broken)
		})
	}
}
