package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/cli"
)

func TestUnknownCommandsSuggestTheRightOne(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	programs := filepath.Join(dir, ".autoloop", "programs")
	require.NoError(t, os.MkdirAll(programs, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(programs, "speed.md"), nil, 0o600))
	for _, c := range []struct{ binary, word, meant string }{
		{"iterate", "stats", "; did you mean `iterate status`?"},
		{"iterate", "run", "; did you mean `iterate --program NAME`?"},
		{"iterate", "speed", "; did you mean `iterate --program speed`?"},
		{"iterate", "aply", "; did you mean `iterate apply`?"},
		{"iterate tasks", "eva", "; did you mean `iterate tasks eval`?"},
		{"iterate tasks", "nothing-alike", " (see `iterate tasks --help`)"},
		{"iterate", "nothing-alike", " (see `iterate --help`)"},
		{"scheduler", "doctor", "; did you mean `iterate doctor`?"},
		{"scheduler", "statsu", "; did you mean `scheduler status`?"},
	} {
		t.Run(c.binary+" "+c.word, func(t *testing.T) {
			t.Parallel()
			var out, errors bytes.Buffer
			env := cli.Env{
				Args: append(strings.Fields(c.binary)[1:], c.word), Dir: dir, Stdout: &out, Stderr: &errors, Now: time.Now, Getenv: func(string) string { return "" },
			}
			work := cli.Scheduler
			name, _, _ := strings.Cut(c.binary, " ")
			if name == "iterate" {
				work = cli.Iterate(nil, "")
			}
			assert.Equal(t, cli.ExitMisuse, work(t.Context(), env))
			assert.Equal(t, name+": unknown command \""+c.word+"\" for \""+c.binary+"\""+c.meant+"\n", errors.String())
		})
	}
}

// TestAWrongNumberOfWords says how the command is written.
func TestAWrongNumberOfWords(t *testing.T) {
	t.Parallel()
	for line, says := range map[string]string{
		"log":             "a word is missing, or there is one too many: write `iterate log PROGRAM [ITERATION]` (see `iterate log --help`)",
		"apply a b":       "a word is missing, or there is one too many: write `iterate apply PROGRAM` (see `iterate apply --help`)",
		"note speed":      "a word is missing, or there is one too many: write `iterate note PROGRAM TEXT` (see `iterate note --help`)",
		"tasks validate":  "a word is missing, or there is one too many: write `iterate tasks validate DIR` (see `iterate tasks validate --help`)",
		"log speed --tvs": "unknown flag: --tvs (see `iterate log --help`)",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			var out, errors bytes.Buffer
			env := cli.Env{Args: strings.Fields(line), Dir: t.TempDir(), Stdout: &out, Stderr: &errors, Now: time.Now, Getenv: func(string) string { return "" }}
			assert.Equal(t, cli.ExitMisuse, cli.Iterate(nil, "")(t.Context(), env))
			assert.Equal(t, "iterate: "+says+"\n", errors.String())
		})
	}
}
