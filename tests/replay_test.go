package tests

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/long"
)

// forgeAll rewrites files of the memory branch in a commit on top of another one; a
// file that becomes empty is removed.
func (w *project) forgeAll(parent string, changes map[string]func(string) string) {
	w.t.Helper()
	env := w.env
	w.env = append(w.env, "GIT_INDEX_FILE="+filepath.Join(w.side, "index"))
	w.git("read-tree", "memory/autoloop")
	for name, change := range changes {
		if name == theLedger {
			w.forgeLedger(change)
			continue
		}
		before := w.memory(name) + "\n"
		w.stage(name, before, change(before))
	}
	tree := w.git("write-tree")
	w.env = env
	w.git("update-ref", "refs/heads/memory/autoloop", w.git("commit-tree", "-p", parent, "-m", "forged", tree))
}

// stage puts another text for a file of the memory branch into the index; one that is
// empty removes it.
func (w *project) stage(name, before, after string) {
	w.t.Helper()
	require.NotEqual(w.t, before, after, "the forgery changes something")
	if after == "" {
		w.git("update-index", "--force-remove", name)
		return
	}
	file := filepath.Join(w.side, "forged")
	require.NoError(w.t, os.WriteFile(file, []byte(after), 0o600))
	w.git("update-index", "--add", "--cacheinfo", "100644,"+w.git("hash-object", "-w", file)+","+name)
}

func replace(from, to string) func(string) string {
	return func(text string) string { return strings.Replace(text, from, to, 1) }
}

func replaceAll(pairs ...string) func(string) string {
	return strings.NewReplacer(pairs...).Replace
}

// without leaves out the nth line, from 0, that has all these words.
func without(nth int, words ...string) func(string) string {
	return func(text string) string {
		var left strings.Builder
		for line := range strings.Lines(text) {
			has := true
			for _, word := range words {
				has = has && strings.Contains(line, word)
			}
			if has {
				nth--
			}
			if !has || nth != -1 {
				left.WriteString(line)
			}
		}
		return left.String()
	}
}

// swapped exchanges two lines.
func swapped(a, b int) func(string) string {
	return func(text string) string {
		lines := strings.SplitAfter(text, "\n")
		lines[a], lines[b] = lines[b], lines[a]
		return strings.Join(lines, "")
	}
}

// inLine changes the first line that has these words.
func inLine(words string, change func(string) string) func(string) string {
	return func(text string) string {
		at := strings.Index(text, words)
		start := strings.LastIndexByte(text[:max(at, 0)], '\n') + 1
		end := start + strings.IndexByte(text[start:], '\n')
		return text[:start] + change(text[start:end]) + text[end:]
	}
}

// replayProject ran deterministic and noisy iterations with every outcome.
func replayProject(t *testing.T) *project {
	t.Helper()
	noise := append([]string{"0", "0", "0", "0", "0"}, scatter(3, 400, 5)...) // noisy from the first gain on
	w := noisyProject(t, "guardrails: [{metric: rail, direction: lower, max-regression: 400}]\nmetric-range: [0, 5000]",
		noise, "900", "1100", "1500", "", "9000", "bad", "1200")
	w.iterate("-n", "7")
	return w
}

// TestReplayFindsCarefulForgeries has those that a replay of the decisions alone
// does not see.
func TestReplayFindsCarefulForgeries(t *testing.T) {
	long.Only(t, long.Hostile)
	t.Parallel()
	w := replayProject(t)
	honest := w.git("rev-parse", "memory/autoloop")
	const ledger, state, results = theLedger, "p.md", "p.results.tsv"
	type files = map[string]func(string) string
	decided := func(n string) string { return `"event":"decided","time":"` + w.decidedAt(n) }
	for name, c := range map[string]struct {
		files files
		says  string
	}{
		"one that is consistent in itself": {files{
			ledger: replaceAll(`"metric":900,`, `"metric":901,`, `[900]`, `[901]`, `:900,`, `:901,`, `:900}`,
				`:901}`, `"-100"`,
				`"-99"`, `900 is worse`, `901 is worse`),
			state:   replaceAll("900", "901", "-100", "-99"),
			results: replaceAll("900", "901"),
		}, "memory branch, iteration 7: commit "},
		"the metric of a measurement": {
			files{ledger: replace(`"metric":900,"samples"`, `"metric":950,"samples"`)},
			"metric of the candidate is 950, and the",
		},
		"a lower confidence": {
			files{ledger: inLine(decided("1"), replace(`"confidence":0.95`, `"confidence":0.5`))},
			"1: no version of the program file asks for the rule",
		},
		"no start": {files{ledger: without(1, `"event":"started"`)}, "without a `started` event"},
		"rows that changed places": {
			files{results: swapped(5, 6)},
			`iteration 3: a row is "4\t`,
		},
		"a metric in the history": {
			files{state: replace("**Metric**: 900 ", "**Metric**: 990 ")},
			`says "Metric: 990 (previous best: 1000,`,
		},
		"a commit in the history": {
			files{state: replace("**Commit**: ", "**Commit**: f")},
			`its history says "Commit: f`,
		},
		"a status in the history": {
			files{state: replace("❌ Rejected", "✅ Accepted")},
			`the ledger gives "Status: ❌ Rejected"`,
		},
		"an emptied iteration": {files{ledger: func(s string) string {
			return s[:strings.LastIndex(s, "p.iterations")] + "p.iterations/000/000007.json\n"
		}}, "changes or removes what iteration 7 had"},
		"a removed ledger": {
			files{ledger: func(string) string { return "" }},
			"removes iteration 7, and leaves the",
		},
	} {
		w.forgeAll("memory/autoloop", c.files)
		a := w.binary("iterate", "replay", "p")
		assert.Equal(t, 1, a.code, "%s: %s", name, a.stdout)
		assert.Contains(t, a.stdout, c.says, name)
		w.git("update-ref", "refs/heads/memory/autoloop", honest)
	}
	a := w.binary("iterate", "replay", "p")
	assert.Zero(t, a.code, a.stdout)
}

// decidedAt is when an iteration was decided, as the ledger has it.
func (w *project) decidedAt(iteration string) string {
	w.t.Helper()
	for _, event := range w.facts("decided") {
		if fmt.Sprint(event["iteration"]) == iteration {
			return fmt.Sprint(event["time"])
		}
	}
	w.t.Fatalf("iteration %s is not decided", iteration)
	return ""
}
