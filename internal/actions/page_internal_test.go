package actions

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/render"
)

func TestPage(t *testing.T) {
	t.Parallel()
	private := filepath.Join(t.TempDir(), "event.json")
	require.NoError(t, os.WriteFile(private, []byte(`{"repository": {"private": true}}`), 0o600))
	with := withPage(t)
	for name, c := range map[string]struct{ root, set, want string }{
		"a repository":          {with, "", "https://org.github.io/Repo/program-p.html"},
		"the owner's own pages": {with, "GITHUB_REPOSITORY=Org/org.github.io", "https://org.github.io/program-p.html"},
		"a domain":              {with, "AUTOLOOP_PAGE_URL=https://loops.test", "https://loops.test/program-p.html"},
		"no address": {
			with, "AUTOLOOP_PAGE_URL=javascript:alert(1)", "https://org.github.io/Repo/program-p.html",
		},
		"a private repository": {
			with, "GITHUB_EVENT_PATH=" + private, "https://github.com/Org/Repo/actions/workflows/autoloop-page.yml",
		},
		"another server": {
			with, "GITHUB_SERVER_URL=https://git.example",
			"https://git.example/Org/Repo/actions/workflows/autoloop-page.yml",
		},
		"without the workflow": {t.TempDir(), "", ""},
		"outside of Actions":   {with, "GITHUB_ACTIONS=", ""},
	} {
		assert.Equal(t, c.want, onGitHub(c.set).ProgramPage(c.root, "p"), name)
	}
}

// withPage is a repository with the workflow that writes the page.
func withPage(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(root, ".github", "workflows"), 0o750))
	require.NoError(t, os.WriteFile(filepath.Join(root, ".github", "workflows", "autoloop-page.yml"), nil, 0o600))
	return root
}

// onGitHub is a step of Org/Repo with one more variable.
func onGitHub(set string) Step {
	vars := map[string]string{
		"GITHUB_ACTIONS": "true", "GITHUB_SERVER_URL": "https://github.com", "GITHUB_REPOSITORY": "Org/Repo",
	}
	name, value, _ := strings.Cut(set, "=")
	vars[name] = value
	return stepWith(vars)
}

func TestSummaryLinksToPage(t *testing.T) {
	t.Parallel()
	step := onGitHub("")
	step.Dir = withPage(t)
	text := resultSummary(step, nil, []render.Result{tried()["accepted"]})
	assert.Contains(t, text, "[all that was tried](https://org.github.io/Repo/program-speed.html)")
	step.Dir = t.TempDir()
	assert.NotContains(t, resultSummary(step, nil, []render.Result{tried()["accepted"]}), "all that was tried")
}
