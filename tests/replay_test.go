package tests

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// forge rewrites a file of the memory branch.
func (w *world) forge(name string, change func(string) string) {
	w.t.Helper()
	before := w.memory(name)
	after := change(before + "\n")
	require.NotEqual(w.t, before+"\n", after, "the forgery changes something")
	file := filepath.Join(w.side, "forged")
	require.NoError(w.t, os.WriteFile(file, []byte(after), 0o600))
	blob := w.git("hash-object", "-w", file)
	env := w.env
	w.env = append(w.env, "GIT_INDEX_FILE="+filepath.Join(w.side, "index"))
	w.git("read-tree", "memory/autoloop")
	w.git("update-index", "--add", "--cacheinfo", "100644,"+blob+","+name)
	tree := w.git("write-tree")
	w.env = env
	w.git("update-ref", "refs/heads/memory/autoloop", w.git("commit-tree", "-p", "memory/autoloop", "-m", "forged", tree))
}

func replace(from, to string) func(string) string {
	return func(text string) string { return strings.Replace(text, from, to, 1) }
}

// replayWorld ran deterministic and noisy iterations with every outcome.
func replayWorld(t *testing.T) *world {
	t.Helper()
	noise := append([]string{"0", "0", "0", "0", "0"}, scatter(3, 400, 5)...) // noisy from the first gain on
	w := noisyWorld(t, "guardrails: [{metric: rail, direction: lower, max-regression: 400}]\nmetric-range: [0, 5000]", noise, "900", "1100", "1500", "", "9000", "bad", "1200")
	w.iterate("-n", "7")
	return w
}

func TestReplay(t *testing.T) {
	t.Parallel()
	w := replayWorld(t)
	a := w.binary("iterate", "replay", "p")
	require.Zero(t, a.code, a.stdout+a.stderr)
	assert.Regexp(t, `^p: 7 iterations, 7 decisions computed again: the records agree\n$`, a.stdout)
	a = w.binary("iterate", "replay", "--json")
	require.Zero(t, a.code)
	assert.Contains(t, a.stdout, `"findings": []`)

	w.run(w.dir, "git", "merge", "--quiet", "autoloop/p")
	w.write("other.txt", "a person's\n")
	w.git("add", ".")
	w.git("commit", "--quiet", "--message", "something else")
	w.one()
	a = w.binary("iterate", "replay", "p")
	assert.Zero(t, a.code, "after a merge: %s", a.stdout)
}

func TestReplayFindsForgeries(t *testing.T) {
	t.Parallel()
	w := replayWorld(t)
	honest := w.git("rev-parse", "memory/autoloop")
	for name, c := range map[string]struct {
		file   string
		change func(string) string
		says   string
	}{
		"best in the state":      {"p.md", func(s string) string { return replace("| Best Metric | 1", "| Best Metric | 2")(s) }, "state, iteration 7: Best Metric is 2"},
		"a verdict":              {"p.jsonl", replace(`"verdict":"regressed"`, `"verdict":"neutral"`), "ledger, iteration 1: the verdict is neutral in the record, and its measurements give regressed"},
		"a sample":               {"p.jsonl", replace(`"samples":[900]`, `"samples":[1900]`), "ledger, iteration 1"},
		"a row of the results":   {"p.results.tsv", replace("reverted", "kept"), `results, iteration 1: there is no row "reverted"`},
		"a score of the results": {"p.results.tsv", replace("\t900\t", "\t901\t"), "results, iteration 1: the score is 901, and the ledger gives 900"},
		"a kept commit":          {"p.jsonl", func(s string) string { return strings.ReplaceAll(s, `"outcome":"accepted"`, `"outcome":"rejected"`) }, "the ledger does not"},
	} {
		w.forge(c.file, c.change)
		a := w.binary("iterate", "replay", "p")
		assert.Equal(t, 1, a.code, "%s: %s", name, a.stdout)
		assert.Contains(t, a.stdout, c.says, name)
		assert.Contains(t, a.stderr, "the records disagree", name)
		w.git("update-ref", "refs/heads/memory/autoloop", honest)
	}
}

func TestReplayOfSharedRecords(t *testing.T) {
	t.Parallel()
	w := noisyWorld(t, "", nil, "1100", "1200")
	remote := filepath.Join(filepath.Dir(w.dir), "remote.git")
	w.run("", "git", "clone", "--quiet", "--bare", w.dir, remote)
	w.git("remote", "add", "origin", remote)
	w.iterate("--remote", "origin", "-n", "2")
	clone := filepath.Join(filepath.Dir(w.dir), "clone")
	w.run("", "git", "clone", "--quiet", "--single-branch", remote, clone)
	a := w.binary("iterate", "replay", "p", "--remote", "origin", "--repo-dir", clone)
	require.Zero(t, a.code, a.stdout+a.stderr)
	assert.Contains(t, a.stdout, "2 decisions computed again: the records agree")
}

func TestTheSameLinesOnceMoreAreAnotherChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{".autoloop/programs/p.md": "---\nmetric: m\nagent: command\nagent-command: echo x >> a.txt\n---\n## Goal\nLonger.\n## Target\n`a.txt`\n## Evaluation\n```sh\nprintf '{\"m\": %d}' \"$(wc -l < a.txt)\"\n```\n", "a.txt": "x\n"})
	for i, got := range w.iterate("-n", "3") {
		assert.Equal(t, "accepted", got.Outcome, "%d: %v", i, got.Reasons)
	}
}

func TestReplayMisuse(t *testing.T) {
	t.Parallel()
	w := valuesWorld(t, "schedule: every 6h", "1")
	a := w.binary("iterate", "replay", "p")
	assert.Equal(t, 2, a.code)
	assert.Contains(t, a.stderr, "has no records yet")
	a = w.binary("iterate", "replay")
	assert.Zero(t, a.code)
	assert.Contains(t, a.stdout, "no program has records yet")
}

func TestDoctorOfAnEvaluation(t *testing.T) {
	t.Parallel()
	w := noisyWorld(t, "timeout-minutes: 1", scatter(3, 100, 27))
	a := w.binary("iterate", "doctor", "--evaluation", "p")
	require.Zero(t, a.code, a.stderr)
	assert.Regexp(t, `the evaluation is +noisy`, a.stdout)
	assert.Regexp(t, `metric +\d+(\.5)? \(median of 8 runs\)`, a.stdout)
	assert.Regexp(t, `smallest visible gain +\d`, a.stdout)
	assert.Regexp(t, `(?m)^runs  [·•●┃ ]{50}`, a.stdout)
	assert.Empty(t, w.git("branch", "--list", "memory/*", "autoloop/*"), "nothing is written")

	w = noisyWorld(t, "", nil)
	a = w.binary("iterate", "doctor", "--evaluation", "p")
	assert.Regexp(t, `deterministic so far`, a.stdout)
	assert.Regexp(t, `smallest visible gain +any`, a.stdout)
	values, _ := w.runs()
	assert.Len(t, values, 2)

	w = noisyWorld(t, "evaluation-runs: 1", scatter(3, 100, 27))
	a = w.binary("iterate", "doctor", "--evaluation", "p")
	assert.Contains(t, a.stdout, "`evaluation-runs: 1` compares single runs")

	w = noisyWorld(t, "evaluation-runs: 60", scatter(3, 100, 27))
	a = w.binary("iterate", "doctor", "--evaluation", "p")
	assert.Contains(t, a.stdout, "(median of 30 runs)", "enough to see how far it scatters")
	assert.Contains(t, a.stdout, "(244 runs)", "what a candidate costs is still that of all pairs")

	w = noisyWorld(t, "metric-range: [0, 1]", nil)
	a = w.binary("iterate", "doctor", "--evaluation", "p")
	assert.Equal(t, 1, a.code)
	assert.Contains(t, a.stderr, "cannot be used: 1000 is implausible")
}
