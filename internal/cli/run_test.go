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

// TestOutsideOfARepository: a command says where it is, and that this was the caller's mistake.
func TestOutsideOfARepository(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, line := range []string{
		"iterate", "iterate status", "iterate log a", "iterate page", "iterate doctor", "iterate apply a",
		"iterate undo a 1",
		"iterate pause a", "iterate replay", "iterate prune", "iterate init --yes", "iterate init --local --yes",
		"iterate init x",
		"iterate init x --local --yes", "iterate validate", "iterate job begin --program a", "scheduler",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			words := strings.Fields(line)
			var out, errors bytes.Buffer
			env := cli.Env{
				Args: words[1:], Dir: dir, Stdout: &out, Stderr: &errors, Now: time.Now,
				Getenv:  func(name string) string { return map[string]string{"HOME": dir}[name] },
				Environ: append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir)),
			}
			work := cli.Iterate(nil, "")
			if words[0] == "scheduler" {
				work = cli.Scheduler
			}
			assert.Equal(t, cli.ExitMisuse, work(t.Context(), env))
			assert.Contains(t, errors.String(), dir+": not a git repository")
			assert.Empty(t, out.String())
			entries, err := os.ReadDir(dir)
			require.NoError(t, err)
			assert.Empty(t, entries)
		})
	}
}
