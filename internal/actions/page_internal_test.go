package actions

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/loop"
)

func TestPage(t *testing.T) {
	t.Parallel()
	private := filepath.Join(t.TempDir(), "event.json")
	require.NoError(t, os.WriteFile(private, []byte(`{"repository": {"private": true}}`), 0o600))
	with := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(with, ".github", "workflows"), 0o750))
	require.NoError(t, os.WriteFile(filepath.Join(with, ".github", "workflows", "autoloop-page.yml"), nil, 0o600))
	for _, c := range []struct {
		name, root, want string
		vars             map[string]string
	}{
		{"a repository", with, "https://org.github.io/Repo/", nil},
		{
			"the owner's own pages", with, "https://org.github.io/",
			map[string]string{"GITHUB_REPOSITORY": "Org/org.github.io"},
		},
		{"a domain", with, "https://loops.example/", map[string]string{"AUTOLOOP_PAGE_URL": "https://loops.example"}},
		{
			"no address", with, "https://org.github.io/Repo/",
			map[string]string{"AUTOLOOP_PAGE_URL": "javascript:alert(1)"},
		},
		{
			"a private repository", with, "https://github.com/Org/Repo/actions/workflows/autoloop-page.yml",
			map[string]string{"GITHUB_EVENT_PATH": private},
		},
		{
			"another server", with, "https://git.example/Org/Repo/actions/workflows/autoloop-page.yml",
			map[string]string{"GITHUB_SERVER_URL": "https://git.example"},
		},
		{"without the workflow", t.TempDir(), "", nil},
		{"outside of Actions", with, "", map[string]string{"GITHUB_ACTIONS": ""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			vars := map[string]string{
				"GITHUB_ACTIONS": "true", "GITHUB_SERVER_URL": "https://github.com",
				"GITHUB_REPOSITORY": "Org/Repo",
			}
			for name, value := range c.vars {
				vars[name] = value
			}
			assert.Equal(t, c.want, stepWith(vars).Page(c.root))
		})
	}
}

func TestTheSummaryLinksToThePage(t *testing.T) {
	t.Parallel()
	with := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(with, ".github", "workflows"), 0o750))
	require.NoError(t, os.WriteFile(filepath.Join(with, ".github", "workflows", "autoloop-page.yml"), nil, 0o600))
	step := stepWith(map[string]string{
		"GITHUB_ACTIONS": "true", "GITHUB_SERVER_URL": "https://github.com",
		"GITHUB_REPOSITORY": "Org/Repo",
	})
	step.Dir = with
	text := resultSummary(step, nil, []loop.Result{tried()["accepted"]})
	assert.Contains(t, text, "[all that was tried](https://org.github.io/Repo/program-speed.html)")
	step.Dir = t.TempDir()
	assert.NotContains(t, resultSummary(step, nil, []loop.Result{tried()["accepted"]}), "all that was tried")
}
