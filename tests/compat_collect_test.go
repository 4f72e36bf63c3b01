package tests

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/stretchr/testify/require"
)

// collects is a variable with a directory: every world of the tests leaves its
// ledgers there when its test ends. testdata/compat/README.md says what for.
const collects = "AUTOLOOP_COMPAT_COLLECT"

// collect arranges for that.
func (w *world) collect() {
	place := os.Getenv(collects)
	if place == "" {
		return
	}
	w.t.Cleanup(func() {
		for _, repository := range []string{w.dir, filepath.Join(w.side, "remote.git")} {
			names, err := exec.Command("git", "-C", repository, "ls-tree", "--name-only", "memory/autoloop").Output() //nolint:noctx // the test's context has ended
			if err != nil {
				continue // it has no such branch
			}
			for name := range strings.FieldsSeq(string(names)) {
				if !strings.HasSuffix(name, ".jsonl") {
					continue
				}
				text, err := exec.Command("git", "-C", repository, "show", "memory/autoloop:"+name).Output() //nolint:noctx // as above
				require.NoError(w.t, err)
				file, err := os.CreateTemp(place, "*.jsonl")
				require.NoError(w.t, err)
				_, err = file.Write(text)
				require.NoError(w.t, err)
				require.NoError(w.t, file.Close())
			}
		}
	})
}
