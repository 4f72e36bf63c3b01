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
	"github.com/org/autoloop/tests/long"
)

// baselines are the records of p with baselines of these commits, each measured of a branch.
func (c *checkout) baselines(of ...[2]string) map[string]string {
	c.t.Helper()
	log := &history.Log{}
	for _, one := range of {
		require.NoError(c.t, log.Append(&history.Measured{
			Head: history.Head{Run: "r", Time: c.Now()},
			Role: history.Baseline, Commit: one[0], BaseBranch: one[1],
		}))
	}
	return map[string]string{"p.md": string(state.New("p").Render()), "p.iterations/000/000000.json": it(log)}
}

// it is the file of the only iteration of a ledger.
func it(log *history.Log) string {
	if len(log.Iterations()) == 0 {
		return iteration(0)
	}
	return string(log.Iterations()[0].Text())
}

// stacked makes commits with these messages one on top of the other, and returns them.
func (c *checkout) stacked(on string, messages ...string) []string {
	c.t.Helper()
	var made []string
	for _, message := range messages {
		on = c.user("commit-tree", "HEAD^{tree}", "-p", on, "-m", message)
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
	both := c.user("commit-tree", "HEAD^{tree}", "-p", own[8], "-p", merged, "-m",
		"[Autoloop: p] Merge main\n\nAutoloop-Run: r")
	const ref, gone = "refs/heads/autoloop/p", "1111111111111111111111111111111111111111"
	for name, test := range map[string]struct {
		refs  map[string]string
		bases [][2]string
		want  []string // numbers of iterations
		head  string
	}{
		"on both branches": {
			map[string]string{ref: own[8], "refs/heads/other": merged},
			[][2]string{{base, "other"}},
			[]string{"2", "3", "8", "many"},
			own[8],
		},
		"each once": {
			map[string]string{ref: both, "refs/heads/other": merged},
			[][2]string{{base, "other"}},
			[]string{"2", "3", "8", "many"},
			both,
		},
		"no program branch": {
			map[string]string{ref: "", "refs/heads/other": merged},
			[][2]string{{base, "other"}},
			[]string{"2"},
			"",
		},
		"no default branch any more": {
			map[string]string{ref: own[8], "refs/heads/other": ""},
			[][2]string{{base, "other"}},
			[]string{"3", "8", "many"},
			own[8],
		},
		"no branch": {
			map[string]string{ref: "", "refs/heads/other": ""},
			[][2]string{{base, "other"}},
			nil, "",
		},
		"no baseline": {
			map[string]string{ref: own[8], "refs/heads/other": merged},
			nil,
			[]string{"1", "3", "8", "many"},
			own[8],
		},
		"a baseline of no branch": {
			map[string]string{ref: own[8], "refs/heads/other": merged},
			[][2]string{{base, ""}},
			[]string{"1", "3", "8", "many"},
			own[8],
		},
		"a baseline of a commit that is gone": {
			map[string]string{ref: own[8], "refs/heads/other": merged},
			[][2]string{{gone, "other"}},
			[]string{"1", "2", "3", "8", "many"},
			own[8],
		},
		"since the first baseline": {
			map[string]string{ref: own[8], "refs/heads/other": merged},
			[][2]string{{old, "other"}, {own[0], "other"}},
			[]string{"2", "3", "8", "many"},
			own[8],
		},
		"of the branch of the last": {map[string]string{
			ref: own[0], "refs/heads/other": "",
			"refs/heads/main2": merged,
		}, [][2]string{{old, "other"}, {base, "main2"}}, []string{"2", "3"}, own[0]},
	} {
		c.at(c.dir, test.refs)
		c.begin(c.baselines(test.bases...))
		records, _, err := c.report()
		require.NoError(t, err, name)
		var numbers []string
		for _, commit := range records.Commits {
			numbers = append(numbers, commit.Iteration)
			if commit.Iteration == "3" {
				assert.Equal(t, audit.Commit{ID: own[0], Iteration: "3", Metric: "7"}, commit, name)
			}
		}
		slices.Sort(numbers)
		assert.Equal(t, test.want, numbers, name)
		assert.Equal(t, test.head, records.Head, name)
		c.at(c.dir, map[string]string{"refs/heads/main2": ""})
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
	a.user("push", "-q", "origin", records+":"+memoryRef, own+":refs/heads/autoloop/p", merged+":refs/heads/main")
	before := b.user("for-each-ref", "refs/heads", "refs/remotes")
	found, _, err := b.report()
	require.NoError(t, err)
	var ids []string
	for _, commit := range found.Commits {
		ids = append(ids, commit.ID)
	}
	assert.ElementsMatch(t, []string{own, merged}, ids)
	assert.Equal(t, own, found.Head)
	assert.Equal(t, before, b.user("for-each-ref", "refs/heads", "refs/remotes"))
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
			args = append([]string{"-c", "gpg.format=ssh", "-c", "user.signingKey=" + by}, append(args, "-S")...)
		}
		for _, parent := range parents {
			args = append(args, "-p", parent)
		}
		return c.user(args...)
	}
	base := c.has("HEAD")
	files := c.baselines([2]string{base, "main"})
	tree := func(more map[string]string) string {
		all := map[string]*git.File{}
		for _, texts := range []map[string]string{files, more} {
			for name, text := range texts {
				all[name] = &git.File{Data: []byte(text)}
			}
		}
		id, err := c.Repo.WriteFiles(t.Context(), "", all)
		require.NoError(t, err)
		return id
	}
	message := "[Autoloop: p] Iteration 1: x\n\nAutoloop-Iteration: 1\nAutoloop-Metric: 1"
	one := sign(known, tree(nil), "one")
	two := sign("", tree(map[string]string{"q.md": "of others"}), "two", one)
	three := sign("", tree(map[string]string{"q.md": "of others", "p.results.tsv": ""}), "three", two)
	four := sign(strange, tree(map[string]string{"q.md": "of others", "p.iterations/README": "x"}), "four", three)
	keptKnown := sign(known, "HEAD^{tree}", message, base)
	keptUnsigned := sign("", "HEAD^{tree}", message, keptKnown)
	keptStrange := sign(strange, "HEAD^{tree}", message, keptUnsigned)
	for _, test := range []struct {
		records, branch string
		want            []string
	}{
		{one, keptKnown, nil},
		{two, keptKnown, nil},
		{three, keptKnown, []string{"nobody known has signed commit " + three[:12] + " of memory/autoloop"}},
		{four, base, []string{
			"nobody known has signed commit " + four[:12] + " of memory/autoloop",
			"nobody known has signed commit " + three[:12] + " of memory/autoloop",
		}},
		{one, keptStrange, []string{
			"nobody known has signed the kept commit " + keptStrange[:12],
			"nobody known has signed the kept commit " + keptUnsigned[:12],
		}},
	} {
		c.at(c.dir, map[string]string{memoryRef: test.records, "refs/heads/autoloop/p": test.branch})
		records, err := c.Records(t.Context(), "p", "autoloop/p", &memory.Signers{How: git.SSH, Allowed: allowed})
		require.NoError(t, err)
		assert.ElementsMatch(t, test.want, records.Unknown)
	}
	records, _, err := c.report()
	require.NoError(t, err)
	assert.Empty(t, records.Unknown, "nobody asked")
}

// TestVersionsOfAProgram: its file as it is and as commits had it, the newest first, but
// for those that cannot be read.
func TestVersionsOfAProgram(t *testing.T) {
	t.Parallel()
	c := newCheckout(t)
	const file = ".autoloop/programs/p.md"
	var parents []string
	commit := func(text string, name string) string {
		files := map[string]*git.File{name: nil, "other": {Data: []byte(text)}}
		if text != "" {
			files[name] = &git.File{Data: []byte(text)}
		}
		base := ""
		if len(parents) > 0 {
			base = parents[0]
		}
		tree, err := c.Repo.WriteFiles(t.Context(), base, files)
		require.NoError(t, err)
		id, err := c.Repo.CommitTree(t.Context(), tree, parents, "m\n", c.Now())
		require.NoError(t, err)
		parents = []string{id}
		return id
	}
	var commits []string
	for _, text := range []string{"# one\n", "---\nschedule: bad\n---\n", "", "# two\n"} {
		commits = append(commits, commit(text, file))
	}
	side := c.user("commit-tree", commits[0]+"^{tree}", "-m", "side")
	source := memory.Programs{Root: c.dir}
	versions := func(source memory.Programs, name string, revs ...string) (texts []string) {
		t.Helper()
		found, err := source.Versions(t.Context(), c.Memory, name, revs...)
		require.NoError(t, err)
		for _, p := range found {
			texts = append(texts, strings.TrimSpace(strings.TrimPrefix(p.Body, "# ")))
		}
		return texts
	}
	assert.Empty(t, versions(source, "p", commits...), "it has no file any more")
	require.NoError(t, os.MkdirAll(filepath.Join(c.dir, filepath.Dir(file)), 0o755))
	c.write(file, "# now\n")
	assert.Equal(t, []string{"now"}, versions(source, "p"))
	assert.Equal(t, []string{"now", "two", "one"}, versions(source, "p", commits[3]))
	assert.Equal(t, []string{"now", "one"}, versions(source, "p", commits[1]))
	assert.Equal(t, []string{"now", "one"},
		versions(source, "p", side, "refs/heads/none", "1111111111111111111111111111111111111111", ""))
	assert.Equal(t, []string{"now"}, versions(source, "p", "refs/heads/none"))
	assert.Equal(t, []string{"now", "one", "two", "one"}, versions(source, "p", commits[3], side),
		"that of the side was made last")
	assert.Empty(t, versions(source, "q", commits[3]), "another program")
	c.write(file, "---\nschedule: bad\n---\n")
	assert.Equal(t, []string{"two", "one"}, versions(source, "p", commits[3]))

	elsewhere := filepath.Join(t.TempDir(), "programs")
	require.NoError(t, os.MkdirAll(elsewhere, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(elsewhere, "p.md"), []byte("# elsewhere\n"), 0o600))
	outside := source
	outside.Dir = elsewhere
	assert.Empty(t, versions(outside, "p", commits[3]), "it is not of this repository")
}
