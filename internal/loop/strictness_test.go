package loop

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/loop/evaluation"
	"github.com/org/autoloop/internal/process"
)

// scriptBed is a bed whose evaluation is a real script.
func scriptBed(t *testing.T, script string, proposals ...string) *bed {
	t.Helper()
	b := newBed(t, "", "1", proposals...)
	text := strings.Replace(bedProgram, "cat value.txt\n", script+"\n", 1)
	text = strings.Replace(text, "%s\n", "", 1)
	b.commit(map[string]string{".autoloop/programs/p.md": text})
	b.service = b.newService(text)
	b.service.Eval = &evaluation.Evaluator{Runner: &process.Runner{}}
	return b
}

// TestOlderProgramsAreWarned: a baseline of an older version, whose scripts passed
// over errors, holds, and its program goes on with a warning; a new one is refused.
func TestOlderProgramsAreWarned(t *testing.T) {
	t.Parallel()
	const script = "false | cat value.txt"
	t.Run("a new program", func(t *testing.T) {
		t.Parallel()
		got := scriptBed(t, script, "2").one()
		assert.Equal(t, history.Error, got.Outcome)
		assert.Contains(t, got.Reasons[0], "exit code 1 at line 1 (`false | cat value.txt`)")
	})
	t.Run("an older program", func(t *testing.T) {
		t.Parallel()
		b := scriptBed(t, script, "2", "3")
		b.service.Eval = b // as before
		require.Equal(t, history.Accepted, b.one().Outcome)
		require.True(t, b.records().sum.Strict)
		_, err := b.service.Memory.Update(t.Context(), memory.Update{Program: "p", Message: "older", Apply: func(files memory.Files) (memory.Files, error) {
			files.Ledger = []byte(strings.ReplaceAll(string(files.Ledger), `"strict":true,`, ""))
			return files, nil
		}})
		require.NoError(t, err)
		b.service.Eval = &evaluation.Evaluator{Runner: &process.Runner{}}
		got := b.one()
		assert.Equal(t, history.Accepted, got.Outcome, got.Reasons)
		require.Len(t, got.Warnings, 1)
		assert.Contains(t, got.Warnings[0], "the evaluation passes over an error: a command of the pipe at line 1 (`false | cat value.txt`) fails")
	})
	t.Run("an older program whose script ends at every error", func(t *testing.T) {
		t.Parallel()
		b := scriptBed(t, "cat value.txt", "2")
		assert.Empty(t, b.one().Warnings)
		assert.True(t, b.records().sum.Strict)
	})
}

// TestOutputsAreKept: of the last evaluations, for people, and for the agent that
// is asked next.
func TestOutputsAreKept(t *testing.T) {
	t.Parallel()
	b := scriptBed(t, "echo building\n[ $(cat value.txt) -lt 9 ] || { echo 'a.c:3:5: error: too large' >&2; exit 3; }\ncat value.txt", "9", "2")
	b.service.Transcripts = t.TempDir()
	got := b.one()
	require.Equal(t, history.Rejected, got.Outcome, got.Reasons)
	assert.Contains(t, got.Reasons[0], "a.c:3:5: error: too large")
	files := Outputs(b.service.Transcripts, "p", 1, got.RunID)
	require.Len(t, files, 4, "the baseline twice, the candidate, the incumbent")
	assert.Contains(t, files[2], "candidate")
	assert.Equal(t, files[2], got.Output)
	text, err := os.ReadFile(got.Output)
	require.NoError(t, err)
	assert.Contains(t, string(text), "exit code 3")
	assert.Contains(t, string(text), "== standard error\na.c:3:5: error: too large\n== standard output\nbuilding\n")
	prompts := ""
	work := b.agent
	b.agent = func(request agent.Request) agent.Reply { prompts = request.Prompt; return work(request) }
	assert.Empty(t, b.one().Output)
	assert.Contains(t, prompts, "What the evaluation printed of the last attempt, which failed")
	assert.Contains(t, prompts, "a.c:3:5: error: too large\nbuilding")
	b.one()
	assert.NotContains(t, prompts, "which failed")
}
