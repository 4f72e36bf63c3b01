package git_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/git"
)

func TestApplyIsTheReverseOfDiff(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	changed := must(f.repo.WriteFiles(t.Context(), "HEAD", map[string]*git.File{
		"a": {Data: []byte("two\n\xff\r\n")}, "d/bin": {Data: []byte("\x00\x01")},
		"d/script": {Mode: git.ModeExecutable, Data: []byte("x")},
	}))
	patch := must(f.repo.Diff(t.Context(), "HEAD", changed))
	applied := must(f.repo.Apply(t.Context(), "HEAD", patch))
	assert.Equal(t, changed, applied)
	assert.Empty(t, f.Git("status", "--porcelain"), "neither index nor files of the user are touched")
	const anew = "diff --git a/%[1]s b/%[1]s\nnew file mode 100644\n--- /dev/null\n+++ b/%[1]s\n@@ -0,0 +1 @@\n+x\n"
	for name, patch := range map[string]string{
		"another base": "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-three\n+four\n",
		"outside":      fmt.Sprintf(anew, "../x"),
		"git itself":   fmt.Sprintf(anew, ".git/x"),
		"no patch":     "rubbish\n",
	} {
		_, err := f.repo.Apply(t.Context(), "HEAD", []byte(patch))
		assert.Error(t, err, name)
	}
}
