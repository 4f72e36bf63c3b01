package memory_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/audit"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/history/state"
	programs "github.com/org/autoloop/internal/program/checkout"
	"github.com/org/autoloop/tests/long"
)

// baselines are the records of p with baselines of these commits, each measured of a branch.
func (c *checkout) baselines(of ...[2]string) map[string]string {
	c.t.Helper()
	log := (*history.Log)(nil).Copy()
	for _, one := range of {
		require.NoError(c.t, log.Append(&history.Measured{
			Head: history.Head{Run: "r", Time: c.Now()}, Role: history.Baseline, Commit: one[0], BaseBranch: one[1],
		}))
	}
	files := map[string]string{"p.md": string(state.New("p").Render())}
	for _, it := range log.Iterations() {
		files["p.iterations/000/000000.json"] = string(it.Text())
	}
	return files
}

// stacked makes commits with these messages one on top of the other, and returns them.
func (c *checkout) stacked(on string, messages ...string) []string {
	c.t.Helper()
	var made []string
	for _, message := range messages {
		on = c.Git("commit-tree", "HEAD^{tree}", "-p", on, "-m", message)
		made = append(made, on)
	}
	return made
}

// TestCommitsThatSayThatTheyWereKept: those of the program on its branch and on the default
// branch, since its first baseline.
func TestCommitsThatSayThatTheyWereKept(t *testing.T) {
	t.Parallel()
	c := newCheckout(t)
	kept := func(program, number, metric string) string {
		return "[Autoloop: " + program + "] Iteration " + number + ": x\n\nAutoloop-Iteration: " + number +
			"\nAutoloop-Metric: " + metric + "\nAutoloop-Run: r"
	}
	on := c.stacked("HEAD", kept("p", "1", "9"), "a person's", kept("p", "2", "8"))
	old, base, merged := on[0], on[1], on[2]
	own := c.stacked(
		base, kept("p", "3", "7"), "a person's", kept("q", "4", "6"), kept("pq", "5", "6"),
		"Revert \"[Autoloop: p] x\"\n\nAutoloop-Iteration: 6", "[Autoloop: p] Merge main\n\nAutoloop-Run: r",
		"[Autoloop: p] x\n\nAutoloop-Iteration: 7\n\nAnd more.", kept("p", "8", "5"),
		"[Autoloop: p] Undo\n\nAutoloop-Iteration: many")
	both := c.Git("commit-tree", "HEAD^{tree}", "-p", own[8], "-p", merged, "-m",
		"[Autoloop: p] Merge main\n\nAutoloop-Run: r")
	named := map[string]string{
		"": "", "old": old, "base": base, "merged": merged, "three": own[0], "own": own[8], "both": both,
		"gone": "1111111111111111111111111111111111111111",
	}
	for name, row := range map[string]string{
		"on both branches":           "own | merged |  | base:other => 2 3 8 many",
		"each once":                  "both | merged |  | base:other => 2 3 8 many",
		"no program branch":          " | merged |  | base:other => 2",
		"no default branch any more": "own |  |  | base:other => 3 8 many",
		"no branch":                  " |  |  | base:other => ",
		"no baseline":                "own | merged |  |  => 1 3 8 many",
		"a baseline of no branch":    "own | merged |  | base: => 1 3 8 many",
		"a baseline that is gone":    "own | merged |  | gone:other => 1 2 3 8 many",
		"since the first baseline":   "own | merged |  | old:other three:other => 2 3 8 many",
		"of the branch of the last":  "three |  | merged | old:other base:main2 => 2 3",
	} {
		row, want, _ := strings.Cut(row, " => ")
		parts := strings.Split(row, " | ") // the heads of the branches, and the baselines
		at(t, c.user, map[string]string{
			"refs/heads/autoloop/p": named[parts[0]],
			"refs/heads/other":      named[parts[1]],
			"refs/heads/main2":      named[parts[2]],
		})
		var bases [][2]string
		for _, one := range strings.Fields(parts[3]) {
			commit, branch, _ := strings.Cut(one, ":")
			bases = append(bases, [2]string{named[commit], branch})
		}
		c.begin(c.baselines(bases...))
		records := c.records()
		var numbers []string
		for _, commit := range records.Commits {
			numbers = append(numbers, commit.Iteration)
			if commit.Iteration == "3" {
				assert.Equal(t, audit.Commit{ID: own[0], Iteration: "3", Metric: "7"}, commit, name)
			}
		}
		slices.Sort(numbers)
		assert.Equal(t, want, strings.Join(numbers, " "), name)
		assert.Equal(t, named[parts[0]], records.Head, name)
	}
}

// TestCommitsOfASharedProgramAreThoseOfTheRemote: they are fetched where another clone made
// them, and the branches here stay as they are.
func TestCommitsOfASharedProgramAreThoseOfTheRemote(t *testing.T) {
	t.Parallel()
	_, clone := newShared(t)
	a, b := clone(), clone()
	base := a.has("HEAD")
	const trailers = "\n\nAutoloop-Iteration: 1\nAutoloop-Metric: 3"
	own := a.stacked(base, "[Autoloop: p] Iteration 1: x"+trailers)[0]
	merged := a.stacked(base, "[Autoloop: p] Iteration 1: x (#7)"+trailers)[0]
	records := a.begin(a.baselines([2]string{base, "main"}))
	a.Git("push", "-q", "origin", records+":"+memoryRef, own+":refs/heads/autoloop/p", merged+":refs/heads/main")
	before := b.Git("for-each-ref", "refs/heads", "refs/remotes")
	found := b.records()
	var ids []string
	for _, commit := range found.Commits {
		ids = append(ids, commit.ID)
	}
	assert.ElementsMatch(t, []string{own, merged}, ids)
	assert.Equal(t, own, found.Head)
	assert.Equal(t, before, b.Git("for-each-ref", "refs/heads", "refs/remotes"))
}

// TestCommitsThatNobodyKnownSigned: of the program's own records and of its kept commits.
func TestCommitsThatNobodyKnownSigned(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		long.Missing(t, "ssh-keygen of openssh-client")
	}
	c := newCheckout(t)
	dir := t.TempDir()
	key := func(name string) string {
		file := filepath.Join(dir, name)
		made, err := exec.CommandContext(t.Context(), "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f",
			file).CombinedOutput()
		require.NoError(t, err, string(made))
		return file
	}
	known, strange := key("known"), key("strange")
	public, err := os.ReadFile(known + ".pub")
	require.NoError(t, err)
	allowed := filepath.Join(dir, "allowed")
	require.NoError(t, os.WriteFile(allowed, append([]byte("* "), public...), 0o600))
	sign := func(by, tree, message string, parents ...string) string {
		args := []string{"commit-tree", tree, "-m", message}
		if by != "" {
			args = slices.Concat([]string{"-c", "gpg.format=ssh", "-c", "user.signingKey=" + by}, args, []string{"-S"})
		}
		for _, parent := range parents {
			args = append(args, "-p", parent)
		}
		return c.Git(args...)
	}
	base := c.has("HEAD")
	files := c.baselines([2]string{base, "main"})
	record := func(by, name string, parents ...string) string {
		if name != "" {
			files[name] = "x"
		}
		return sign(by, c.begin(files)+"^{tree}", "m", parents...)
	}
	one := record(known, "")
	two := record("", "q.md", one) // of another program
	three := record("", "p.iterations/README", two)
	four := record(strange, "p.iterations/LICENSE", three)
	const message = "[Autoloop: p] Iteration 1: x\n\nAutoloop-Iteration: 1\nAutoloop-Metric: 1"
	keptKnown := sign(known, "HEAD^{tree}", message, base)
	keptUnsigned := sign("", "HEAD^{tree}", message, keptKnown)
	keptStrange := sign(strange, "HEAD^{tree}", message, keptUnsigned)
	const says = "nobody known has signed "
	unsigned := says + "commit " + three[:12] + " of memory/autoloop"
	for _, test := range []struct {
		records, branch string
		want            []string
	}{
		{two, keptKnown, nil},
		{three, keptKnown, []string{unsigned}},
		{four, base, []string{says + "commit " + four[:12] + " of memory/autoloop", unsigned}},
		{one, keptStrange, []string{
			says + "the kept commit " + keptStrange[:12], says + "the kept commit " + keptUnsigned[:12],
		}},
	} {
		at(t, c.user, map[string]string{memoryRef: test.records, "refs/heads/autoloop/p": test.branch})
		records, err := c.Records(t.Context(), "p", "autoloop/p", &memory.Signers{How: git.SSH, Allowed: allowed})
		require.NoError(t, err)
		assert.ElementsMatch(t, test.want, records.Unknown)
	}
	assert.Empty(t, c.records().Unknown, "nobody asked")
}

// TestVersionsOfAProgram: its file as it is and as commits had it, the newest first, but
// for those that cannot be read.
func TestVersionsOfAProgram(t *testing.T) {
	t.Parallel()
	c := newCheckout(t)
	const path = ".autoloop/programs/p.md"
	var commits []string
	for _, text := range []string{"---\nmetric: one\n---\n", "---\nschedule: bad\n---\n", "", "---\nmetric: two\n---\n"} {
		files := map[string]*git.File{path: nil, "other": file(text)}
		if text != "" {
			files[path] = file(text)
		}
		commits = append(commits, c.atop(files, commits[max(len(commits)-1, 0):]...))
	}
	side := c.Git("commit-tree", commits[0]+"^{tree}", "-m", "side")
	versions := func(dir, name string, revs ...string) string {
		found, err := programs.Programs{Root: c.Dir, Dir: dir}.Versions(t.Context(), c.Repo, name, revs...)
		require.NoError(t, err)
		text := ""
		for _, p := range found {
			text += p.Metric + " "
		}
		return text
	}
	assert.Empty(t, versions("", "p", commits...), "it has no file any more")
	c.Write(map[string]string{path: "---\nmetric: now\n---\n"})
	assert.Equal(t, "now ", versions("", "p"))
	assert.Equal(t, "now two one ", versions("", "p", commits[3]))
	assert.Equal(t, "now one ", versions("", "p", commits[1]))
	assert.Equal(t, "now one ", versions("", "p", side, "refs/heads/none", "", strings.Repeat("1", 40)))
	assert.Equal(t, "now one two one ", versions("", "p", commits[3], side), "that of the side was made last")
	assert.Empty(t, versions("", "q", commits[3]), "another program")
	elsewhere := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(elsewhere, "p.md"), []byte("---\nmetric: elsewhere\n---\n"), 0o600))
	assert.Empty(t, versions(elsewhere, "p", commits[3]), "it is not of this repository")
	c.Write(map[string]string{path: "---\nschedule: bad\n---\n"})
	assert.Equal(t, "two one ", versions("", "p", commits[3]))
}
