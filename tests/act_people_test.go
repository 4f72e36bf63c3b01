package tests

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestActDeploysThePage runs what `iterate init --pages` writes, after an
// iteration, in a public repository and in a private one.
func TestActDeploysThePage(t *testing.T) {
	t.Parallel()
	for name, private := range map[string]bool{"public": false, "private": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRunner(t, map[string]string{"value.txt": "10\n"}, "autoloop-simple.yml", "autoloop-page.yml")
			r.program(countdown)
			run := r.trigger("schedule", everyHour)
			require.Zero(t, run.code, run)
			assert.Contains(t, r.pullBody(), "/org/repo/actions/workflows/autoloop-page.yml)", "this server is not github.com")
			r.workflow = ".github/workflows/autoloop-page.yml"
			run = r.trigger("workflow_run", map[string]any{
				"action": "completed", "workflow_run": map[string]any{"name": "Autoloop"},
				"repository": map[string]any{"full_name": "org/repo", "name": "repo", "default_branch": "main", "owner": map[string]any{"login": "org"}, "fork": false, "private": private},
			})
			require.Zero(t, run.code, run)
			site := filepath.Join(r.artifacts, "deployed")
			if private {
				assert.Equal(t, map[string]string{"Autoloop page/build": "success"}, run.results())
				assert.NoDirExists(t, site)
				site = filepath.Join(r.artifacts, "2", "autoloop-page")
			}
			text, err := os.ReadFile(filepath.Join(site, "program-p.html"))
			require.NoError(t, err)
			assert.Contains(t, string(text), "one less")
		})
	}
}

// TestActRunsAFork runs what `iterate init --action` writes: in one job a branch of the
// fork, which is built from its source, and in two a release of the fork.
func TestActRunsAFork(t *testing.T) {
	t.Parallel()
	source, err := ownTree()
	require.NoError(t, err)
	released, err := releasedTree()
	require.NoError(t, err)
	for name, c := range map[string]struct{ form, fork, tree string }{
		"one job": {"--simple", "me/fork@main", source}, "two jobs": {"--simple=false", "me/fork@v1.0.0", released},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRunner(t, map[string]string{"value.txt": "10\n"}, "autoloop-simple.yml")
			r.git("rm", "--quiet", "-r", ".github")
			a := r.binary("iterate", "init", "--yes", c.form, "--action", c.fork)
			require.Zero(t, a.code, a.stderr)
			r.git("add", "--all")
			r.git("commit", "--quiet", "--message", "use a fork")
			r.git("push", "--quiet", r.bare, "HEAD:main")
			r.tree, r.forks, r.workflow = c.tree, []string{c.fork}, ".github/workflows/autoloop.yml"
			r.program(countdown)
			run := r.trigger("schedule", everyHour)
			require.Zero(t, run.code, run.log)
			assert.Equal(t, "9", r.run(r.bare, "git", "show", "autoloop/p:value.txt"))
			assert.NotContains(t, run.log, "org/autoloop@")
			assert.Equal(t, c.tree == source, strings.Contains(run.log, "Build Autoloop"))
			assert.Contains(t, strings.Join(r.uploads(), " "), "autoloop-transcripts")
		})
	}
}
