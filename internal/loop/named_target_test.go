package loop

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop/evaluation"
	"github.com/org/autoloop/internal/process"
)

// TestTargetsThatTheEvaluationNames: a file that the script reads may change, one
// that it runs may not, and the agent is told so before it works.
func TestTargetsThatTheEvaluationNames(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		target  string
		outcome history.Outcome
		offers  string
	}{
		"exactly": {"`src/value.txt`\n- `src/*.txt`", history.Accepted, `There now: "src/other.txt", "src/value.txt"`},
		"by glob": {"`src/*.txt`", history.Rejected, `There now: "src/other.txt"` + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, "", "1")
			text := strings.NewReplacer("cat value.txt", "cat src/value.txt", "`value.txt`", c.target, "%s\n", "").Replace(bedProgram)
			b.commit(map[string]string{".autoloop/programs/p.md": text, "src/value.txt": "1\n", "src/other.txt": ":\n"})
			b.service = b.newService(text)
			b.service.Eval = &evaluation.Evaluator{Runner: &process.Runner{}}
			prompt := ""
			b.agent = func(request agent.Request) agent.Reply {
				prompt = request.Prompt
				assert.Equal(t, c.outcome == history.Accepted, request.IsTarget("src/value.txt"))
				b.write(request.Dir, map[string]string{"src/value.txt": "2\n"})
				return agent.Reply{Summary: "two"}
			}
			got := b.one()
			require.Equal(t, c.outcome, got.Outcome, got.Reasons)
			assert.Contains(t, prompt, c.offers)
			if c.outcome == history.Rejected {
				assert.Contains(t, got.Reasons[0].String(), "is named by the evaluation")
				assert.Contains(t, prompt, "Never these:\n\n- `src/value.txt`")
			}
		})
	}
}
