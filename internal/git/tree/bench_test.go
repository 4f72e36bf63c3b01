package tree_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/git/tree"
)

// bareTree is what cannot be done without.
const bareTree = `set -e
export GIT_INDEX_FILE="$SIDE/index"
mkdir "$SIDE/tree"
git read-tree HEAD
git --work-tree="$SIDE/tree" checkout-index --all --index --quiet
git ls-tree -r -z HEAD > "$SIDE/list"
echo changed > "$SIDE/tree/d000/e0/f00000.txt"
git --work-tree="$SIDE/tree" update-index d000/e0/f00000.txt
git write-tree
`

func benchmarkTree(b *testing.B, repo *git.Repo) {
	b.Helper()
	var bare, build, scan, candidate time.Duration
	for b.Loop() {
		side := b.TempDir()
		cmd := exec.CommandContext(b.Context(), "sh", "-c", bareTree)
		cmd.Dir, cmd.Env = repo.Root, append(os.Environ(), "SIDE="+side)
		begun := time.Now()
		out, err := cmd.CombinedOutput()
		bare += time.Since(begun)
		require.NoError(b, err, "%s", out)

		begun = time.Now()
		built, err := (&tree.Builder{Repo: repo}).Build(b.Context(), "HEAD", filepath.Join(side, "own"),
			tree.Options{Head: "HEAD"})
		require.NoError(b, err)
		build += time.Since(begun)
		require.NoError(b, os.WriteFile(filepath.Join(built.Dir, "d000/e0/f00000.txt"), []byte(begun.String()), 0o600))
		begun = time.Now()
		changes, err := built.Scan(b.Context())
		scan += time.Since(begun)
		require.NoError(b, err)
		require.Len(b, changes, 1)
		begun = time.Now()
		_, err = built.Candidate(b.Context(), changes)
		candidate += time.Since(begun)
		require.NoError(b, err)
		require.NoError(b, tree.RemoveAll(side))
	}
	report := func(d time.Duration, unit string) { b.ReportMetric(float64(d.Microseconds())/1000/float64(b.N), unit) }
	report(bare, "ms-git")
	report(build, "ms-build")
	report(scan, "ms-scan")
	report(candidate, "ms-candidate")
	b.ReportMetric(float64(build+scan+candidate)/float64(bare), "x-git")
}

// BenchmarkTree builds a tree of 10,000 files, changes one, looks for changes
// and makes a candidate, beside the git commands that this needs: "x-git" is
// the ratio.
func BenchmarkTree(b *testing.B) {
	dir := b.TempDir()
	git1 := func(args ...string) {
		cmd := exec.CommandContext(b.Context(), "git",
			append([]string{"-c", "user.name=U", "-c", "user.email=u@example.com"}, args...)...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		require.NoError(b, err, "%s", out)
	}
	git1("init", "--quiet")
	for i := range 10_000 {
		file := filepath.Join(dir, fmt.Sprintf("d%03d/e%d/f%05d.txt", i%100, i%7, i))
		require.NoError(b, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(b, os.WriteFile(file, []byte(fmt.Sprintf("file %d\n", i)), 0o600))
	}
	git1("add", "--all")
	git1("commit", "--quiet", "--message", "start")
	repo, err := git.Open(b.Context(), dir, os.Environ())
	require.NoError(b, err)
	benchmarkTree(b, repo)
}
