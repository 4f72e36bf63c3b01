package setup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	oldCommit = "0123456789abcdef0123456789abcdef01234567"
	newCommit = "89abcdef0123456789abcdef0123456789abcdef"
)

// TestActionIsPinned writes workflows one after the other, as a repository
// gets them over time.
func TestActionIsPinned(t *testing.T) {
	t.Parallel()
	old, fresh := Origin{"org/autoloop", "v1.2.3", oldCommit}, Origin{"org/autoloop", "v1.3.0", newCommit}
	devel := Origin{"org/autoloop", "(devel)", oldCommit}
	const pinned = "org/autoloop@" + oldCommit
	for name, c := range map[string]struct {
		there  string // what the workflow uses already, "" for no workflow
		origin Origin
		action string
		uses   string
		// version is what `version:` says, "" for nothing.
		version, err string
	}{
		"a release": {"", old, "", pinned + " # v1.2.3", "v1.2.3", ""},
		"a release installed by Go": {
			"", Origin{"org/autoloop", "v1.2.3", ""}, "", "org/autoloop@v1.2.3 # v1.2.3", "", "",
		},
		"a fork's release": {
			"", Origin{"me/fork", "v1.2.3", oldCommit}, "", "me/fork@" + oldCommit + " # v1.2.3", "v1.2.3", "",
		},
		"no release": {"", devel, "", pinned + " # unreleased", "", ""},
		"a pseudo-version alone": {
			"", Origin{"", "v0.0.0-20260101000000-0123456789ab", ""}, "", "org/autoloop@v1", "", "",
		},
		"nothing known": {"", Origin{}, "", "org/autoloop@v1", "", ""},
		"asked for":     {"", old, "me/autoloop@main", "me/autoloop@main", "", ""},
		"an upgrade of our own pin": {
			pinned + " # v1.2.3", fresh, "", "org/autoloop@" + newCommit + " # v1.3.0", "v1.3.0", "",
		},
		"an upgrade of the moving tag": {
			"org/autoloop@v1", fresh, "", "org/autoloop@" + newCommit + " # v1.3.0", "v1.3.0", "",
		},
		"an upgrade of what was asked": {"me/autoloop@main", fresh, "", "me/autoloop@main", "", ""},
		"an upgrade of a commit":       {"me/autoloop@" + oldCommit, fresh, "", "me/autoloop@" + oldCommit, "", ""},
		"another, asked for":           {"me/autoloop@main", fresh, "org/autoloop@v1", "org/autoloop@v1", "", ""},
		"not an action":                {"", Origin{}, "org/autoloop", "", "", "give OWNER/NAME@REF"},
		"more than an action":          {"", Origin{}, "org/autoloop@v1\n      run: x", "", "", "give OWNER/NAME@REF"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			if c.there != "" {
				files, err := initFiles(root, nil, "", Options{Action: strings.SplitN(c.there, " ", 2)[0]})
				require.NoError(t, err)
				text := strings.ReplaceAll(files[0].Text, strings.SplitN(c.there, " ", 2)[0]+"\n", c.there+"\n")
				require.NoError(t, os.MkdirAll(filepath.Join(root, workflowDir), 0o750))
				require.NoError(t, os.WriteFile(filepath.Join(root, mainWorkflow), []byte(text), 0o600))
			}
			files, err := initFiles(root, nil, "", Options{Origin: c.origin, Action: c.action})
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				return
			}
			require.NoError(t, err)
			for _, file := range files[:3] {
				ours := strings.Count(file.Text, "mode: ")
				assert.Equal(t, ours, strings.Count(file.Text, "uses: "+c.uses+"\n"), file.Name)
				assert.Equal(t, c.version != "",
					strings.Contains(file.Text, "          version: "+c.version+"\n"), file.Name)
				if c.uses != defaultAction {
					assert.NotContains(t, file.Text, defaultAction+"\n")
				}
			}
		})
	}
}
