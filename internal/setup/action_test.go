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

// TestTheActionIsPinned writes workflows one after the other, as a repository
// gets them over time.
func TestTheActionIsPinned(t *testing.T) {
	t.Parallel()
	old, fresh := Origin{"org/autoloop", "v1.2.3", oldCommit}, Origin{"org/autoloop", "v1.3.0", newCommit}
	for _, c := range []struct {
		name string
		// there is what the workflow uses already, "" for no workflow.
		there string
		o     Options
		uses  string
		// version is what `version:` says, "" for nothing.
		version, err string
	}{
		{
			name: "a release", o: Options{Origin: old}, uses: "org/autoloop@" + oldCommit + " # v1.2.3",
			version: "v1.2.3",
		},
		{
			name: "a release installed by Go", o: Options{Origin: Origin{"org/autoloop", "v1.2.3", ""}},
			uses: "org/autoloop@v1.2.3 # v1.2.3",
		},
		{
			name: "a fork's release", o: Options{Origin: Origin{"me/fork", "v1.2.3", oldCommit}},
			uses: "me/fork@" + oldCommit + " # v1.2.3", version: "v1.2.3",
		},
		{
			name: "no release", o: Options{Origin: Origin{"org/autoloop", "(devel)", oldCommit}},
			uses: "org/autoloop@" + oldCommit + " # unreleased",
		},
		{
			name: "a pseudo-version alone", o: Options{Origin: Origin{"", "v0.0.0-20260101000000-0123456789ab", ""}},
			uses: "org/autoloop@v1",
		},
		{name: "nothing known", uses: "org/autoloop@v1"},
		{name: "asked for", o: Options{Origin: old, Action: "me/autoloop@main"}, uses: "me/autoloop@main"},
		{
			name: "an upgrade of our own pin", there: "org/autoloop@" + oldCommit + " # v1.2.3",
			o:    Options{Origin: fresh},
			uses: "org/autoloop@" + newCommit + " # v1.3.0", version: "v1.3.0",
		},
		{
			name: "an upgrade of the moving tag", there: "org/autoloop@v1", o: Options{Origin: fresh},
			uses: "org/autoloop@" + newCommit + " # v1.3.0", version: "v1.3.0",
		},
		{
			name: "an upgrade of what was asked for", there: "me/autoloop@main", o: Options{Origin: fresh},
			uses: "me/autoloop@main",
		},
		{
			name: "an upgrade of a commit that was asked for", there: "me/autoloop@" + oldCommit,
			o: Options{Origin: fresh}, uses: "me/autoloop@" + oldCommit,
		},
		{
			name: "another, asked for", there: "me/autoloop@main", o: Options{Origin: fresh, Action: "org/autoloop@v1"},
			uses: "org/autoloop@v1",
		},
		{name: "not an action", o: Options{Action: "org/autoloop"}, err: "give OWNER/NAME@REF"},
		{name: "more than an action", o: Options{Action: "org/autoloop@v1\n      run: x"}, err: "give OWNER/NAME@REF"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			if c.there != "" {
				files, err := initFiles(root, nil, "", Options{Action: strings.SplitN(c.there, " ", 2)[0]})
				require.NoError(t, err)
				text := strings.ReplaceAll(files[0].text, strings.SplitN(c.there, " ", 2)[0]+"\n", c.there+"\n")
				require.NoError(t, os.MkdirAll(filepath.Join(root, workflowDir), 0o750))
				require.NoError(t, os.WriteFile(filepath.Join(root, mainWorkflow), []byte(text), 0o600))
			}
			files, err := initFiles(root, nil, "", c.o)
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				return
			}
			require.NoError(t, err)
			for _, file := range files[:3] {
				ours := strings.Count(file.text, "mode: ")
				assert.Equal(t, ours, strings.Count(file.text, "uses: "+c.uses+"\n"), file.name)
				assert.Equal(t, c.version != "",
					strings.Contains(file.text, "          version: "+c.version+"\n"), file.name)
				if c.uses != defaultAction {
					assert.NotContains(t, file.text, defaultAction+"\n")
				}
			}
		})
	}
}
