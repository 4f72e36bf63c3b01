package decision_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
)

// TestDotGitIsWhatGitRefuses makes names out of what systems ignore, fold or cut, and
// holds what is said of each against git's own check of trees.
func TestDotGitIsWhatGitRefuses(t *testing.T) {
	t.Parallel()
	chance := rand.New(rand.NewPCG(11, 12))
	pieces := []string{
		"\u200c", "\u200b", "\u202e", "\u206f", "\ufeff", "\ufffd", "\xff", "\xe2\x80", " ", ".", ":",
		`\`, "~1", "x", "İ",
	}
	seen := map[string]bool{"/": true}
	var names []string
	for len(names) < 200 {
		var name strings.Builder
		for _, part := range [][]string{
			{".", "g", "i", "t"},
			{".", "G", "I", "T"},
			{"g", "i", "T", "~", "1"},
			{"a", `\`, ".", "g", "i", "t"},
		}[chance.IntN(4)] {
			name.WriteString(part)
			if chance.IntN(9) == 0 {
				name.WriteString(pieces[chance.IntN(len(pieces))])
			}
		}
		if text := name.String(); !seen[text] {
			seen[text], names = true, append(names, text)
		}
	}
	refused := treesThatGitRefuses(t, names)
	bad := 0
	for i, name := range names {
		assert.Equal(t, refused[i], decision.DotGit(name), "%q", name)
		if refused[i] {
			bad++
		}
	}
	assert.Greater(t, bad, 40)
	assert.Less(t, bad, 160)
}

// treesThatGitRefuses makes a tree of each name and reports of which git's fsck says
// that it has a .git.
func treesThatGitRefuses(t *testing.T, names []string) []bool {
	t.Helper()
	dir := t.TempDir()
	run := func(stdin []byte, args ...string) string {
		git := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir}, args...)...)
		git.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null")
		git.Stdin = bytes.NewReader(stdin)
		said, err := git.CombinedOutput()
		require.NoError(t, err, "git %v: %s", args, said)
		return string(said)
	}
	run(nil, "init", "--quiet", "--bare", ".")
	empty := strings.TrimSpace(run(nil, "hash-object", "-w", "--stdin"))
	var trees bytes.Buffer
	for _, name := range names {
		trees.WriteString("100644 blob " + empty + "\t" + name + "\x00\x00")
	}
	ids := strings.Fields(run(trees.Bytes(), "mktree", "-z", "--batch"))
	require.Len(t, ids, len(names))
	said := run(nil, "fsck", "--no-dangling")
	refused := make([]bool, len(names))
	for i, id := range ids {
		refused[i] = strings.Contains(said, "in tree "+id+": hasDotgit")
	}
	return refused
}
