package memory_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/audit"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/tests/long"
)

// TestRecordsThatCannotBeAudited are errors, which name the file.
func TestRecordsThatCannotBeAudited(t *testing.T) {
	t.Parallel()
	c := newCheckout(t)
	young := string(state.New("x").Render())
	c.begin(map[string]string{
		"table.md": young, "table.results.tsv": "no\ttable\n", "state.md": "# mine\n", "ledger.md": young,
		"ledger.iterations/000/000002.json": "{\n",
		"alone.iterations/000/000000.json":  iteration(0), "file.md": young, "file.iterations": "x", "fresh.md": young,
	})
	auditOf := func(name string) (audit.Report, error) {
		records, err := c.Records(t.Context(), name, "autoloop/"+name, nil)
		return audit.Of(records, nil), err
	}
	for name, says := range map[string]string{
		"gone": "it has no records yet", "table": "read table.results.tsv on the memory branch: ",
		"state":  "read state.md on the memory branch: ",
		"ledger": "read ledger.iterations/000/000002.json on the memory branch: ",
		"alone":  "read alone.md on the memory branch: ",
		"file":   "read file.iterations/ on the memory branch: it is no directory", "a/b": "is no name of a program",
	} {
		_, err := auditOf(name)
		require.ErrorContains(t, err, says, name)
	}
	_, err := auditOf("gone")
	require.ErrorIs(t, err, memory.ErrNoRecords)
	report, err := auditOf("fresh")
	require.NoError(t, err, "a state without a ledger")
	assert.Empty(t, report.Findings)
}

// TestHistoriesThatAreRewrittenAreFound: a commit begins an iteration or adds to the newest,
// and a program that was removed whole begins anew.
func TestHistoriesThatAreRewrittenAreFound(t *testing.T) {
	t.Parallel()
	// ledger has iterations from 0 on, with these settings each.
	ledger := func(iterations ...[]string) map[string]string {
		files := map[string]string{".md": "x"}
		for number, keys := range iterations {
			if keys != nil {
				files[fmt.Sprintf(".iterations/000/%06d.json", number)] = iteration(number, keys...)
			}
		}
		return files
	}
	type keys = []string
	one := ledger(keys{"a"}, keys{"b"})
	changes := func(n int) string { return fmt.Sprintf("changes or removes what iteration %d had recorded", n) }
	removes := func(n int) string { return fmt.Sprintf("removes iteration %d, and leaves the state", n) }
	cases := map[string]struct {
		steps []map[string]string
		says  map[int][]string // by step
	}{
		"grows": {[]map[string]string{
			ledger(keys{}), one,
			ledger(keys{"a"}, keys{"b", "c"}, keys{"d"}),
		}, map[int][]string{}},
		"stays":        {[]map[string]string{one, one, one}, nil},
		"begins later": {[]map[string]string{nil, ledger(), one}, nil},
		"the newest is changed": {
			[]map[string]string{one, ledger(keys{"a"}, keys{"c"}), ledger(keys{"a"}, keys{"c"})},
			map[int][]string{1: {changes(1)}},
		},
		"and put back": {
			[]map[string]string{one, ledger(keys{"a"}, keys{"c"}), one},
			map[int][]string{1: {changes(1)}, 2: {changes(1)}},
		},
		"something put before": {
			[]map[string]string{one, one, ledger(keys{"a"}, keys{"c", "b"})},
			map[int][]string{2: {changes(1)}},
		},
		"shortened": {[]map[string]string{
			ledger(keys{"a", "b"}), ledger(keys{"a", "b"}),
			ledger(keys{"a"}),
		}, map[int][]string{2: {changes(0)}}},
		"emptied": {
			[]map[string]string{ledger(keys{"a"}), ledger(keys{}), ledger(keys{"a"})},
			map[int][]string{1: {changes(0)}},
		},
		"an older one grows": {
			[]map[string]string{
				one, ledger(keys{"a", "c"}, keys{"b"}),
				ledger(keys{"a", "c"}, keys{"b"}),
			},
			map[int][]string{1: {"changes iteration 0, after which iteration 1 had begun"}},
		},
		"an older one is added": {[]map[string]string{
			ledger(keys{"a"}, nil, keys{"b"}),
			ledger(keys{"a"}, keys{"c"}, keys{"b"}), nil,
		}, nil},
		"one put in between": {
			[]map[string]string{
				ledger(keys{"a"}, nil, keys{"b"}),
				ledger(keys{"a"}, keys{"c"}, keys{"b"}), ledger(keys{"a"}, keys{"c"}, keys{"b"}),
			},
			map[int][]string{1: {"adds iteration 1 after iteration 2"}},
		},
		"removed": {
			[]map[string]string{ledger(keys{"a"}), ledger(), ledger(keys{"a"})},
			map[int][]string{1: {removes(0)}, 2: {"adds iteration 0 after iteration 0"}},
		},
		"the newest is removed": {[]map[string]string{one, one, ledger(keys{"a"})}, map[int][]string{2: {removes(1)}}},
		"begun anew":            {[]map[string]string{one, nil, ledger(keys{"z"})}, nil},
		"forged before":         {[]map[string]string{one, ledger(keys{"z"}, keys{"b"}), nil}, nil},
	}
	c := newCheckout(t)
	var commits []string
	for step := range 3 {
		files := map[string]*git.File{}
		for name, test := range cases {
			if len(commits) > 0 {
				for file := range test.steps[step-1] {
					files[name+file] = nil
				}
			}
			for file, text := range test.steps[step] {
				files[name+file] = &git.File{Data: []byte(text)}
			}
			files[name+".tsv"] = &git.File{Data: []byte{byte('0' + step)}} // each commit changes something
		}
		var parents []string
		if len(commits) > 0 {
			parents = commits[len(commits)-1:]
		}
		commits = append(commits, c.atop(files, parents...))
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, err := memory.Rewritten(t.Context(), c.Memory, commits[2], name, &history.Log{})
			require.NoError(t, err)
			var want []string
			for step, commit := range commits {
				for _, says := range test.says[step] {
					want = append(want, fmt.Sprintf("commit %.12s %s", commit, says))
				}
			}
			assert.Equal(t, want, found)
		})
	}
}

// TestALedgerThatWasTakenAwayIsNotBegunAnew: nobody would see that the program had one.
func TestALedgerThatWasTakenAwayIsNotBegunAnew(t *testing.T) {
	t.Parallel()
	c := newCheckout(t)
	files := func(programs map[string][2]string) map[string]*git.File {
		all := map[string]*git.File{}
		for name, texts := range programs {
			for i, suffix := range []string{".md", ".iterations/000/000000.json"} {
				all[name+suffix] = nil
				if texts[i] != "" {
					all[name+suffix] = &git.File{Data: []byte(texts[i])}
				}
			}
		}
		return all
	}
	line := iteration(0, "line")
	had, none := [2]string{"state\n", line}, [2]string{"state\n", ""}
	first := c.atop(files(map[string][2]string{"p": had, "whole": had, "fine": had, "young": none, "back": had}))
	second := c.atop(files(map[string][2]string{"p": none, "whole": {"", ""}, "back": none}), first)
	c.atop(files(map[string][2]string{"back": had, "whole": none}), second)
	for name, taken := range map[string]bool{
		"p": true, "whole": false, "fine": false, "young": false, "back": false,
		"new": false,
	} {
		before := c.has(memoryRef)
		_, err := c.Update(t.Context(), memory.Update{Program: name, Message: name, Apply: adding("more")})
		if !taken {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorContains(t, err, "the ledger of "+name+" is gone and its state is not: commit "+second[:12]+
			" of branch memory/autoloop took it away", name)
		assert.Equal(t, before, c.has(memoryRef), name)
	}
	assert.Equal(t, []string{"line", "more"}, c.ledger("fine"))
	c.atop(files(map[string][2]string{"p": {"", ""}}), c.has(memoryRef))
	c.add("p", "anew")
	assert.Equal(t, []string{"anew"}, c.ledger("p"), "the cure that the error names")
}

// TestABranchThatWasCutBackIsRefused: who goes on from it forgets what was recorded.
func TestABranchThatWasCutBackIsRefused(t *testing.T) {
	t.Parallel()
	bare, clone := newShared(t)
	for name, c := range map[string]*checkout{"local": newCheckout(t), "shared": clone()} {
		first := c.add("x", "1")
		second := c.add("x", "2")
		move := func(to string) {
			c.user("update-ref", memoryRef, to)
			if name == "shared" {
				c.user("push", "-q", "--force", bare, to+":"+memoryRef)
			}
		}
		other := c.user("commit-tree", "-m", "other", first+"^{tree}")
		for _, to := range []string{first, other} {
			move(to)
			_, err := c.Update(t.Context(), memory.Update{Program: "x", Message: "m", Apply: adding("3")})
			var rewritten *memory.RewrittenError
			require.ErrorAs(t, err, &rewritten, name)
			assert.Equal(t, memory.RewrittenError{Seen: second, Now: to}, *rewritten)
			for _, says := range []string{
				second[:12], to[:12], "git push --force",
				"iterate resume NAME --memory " + to[:12],
			} {
				require.ErrorContains(t, err, says)
			}
		}
		move(second)
		third := c.add("x", "3")
		move(first)
		require.ErrorContains(t, c.Accept(t.Context(), third), "not at "+third)
		require.NoError(t, c.Accept(t.Context(), first))
		c.add("x", "other")
		assert.Equal(t, []string{"1", "other"}, c.ledger("x"), name)
	}
	fresh, err := clone().CheckSeen(t.Context(), "")
	require.NoError(t, err)
	assert.True(t, fresh, "a new clone cannot tell")
}

// TestKilledBetweenTheRecordsAndTheBranch: git moves several local refs one after the
// other, the records first. The next run moves the branch to where they say that it is.
func TestKilledBetweenTheRecordsAndTheBranch(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]bool{"the first that is kept": true, "a later one": false} {
		c := newCheckout(t)
		base := c.has("HEAD")
		at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		number := 0
		keep := func(from, commit string, more ...history.Event) {
			number++
			value := metric.FromInt(int64(number))
			is := history.Head{Run: fmt.Sprint(number), Time: at, Iteration: number}
			events := append([]history.Event{&history.Started{Head: is}}, more...)
			events = append(events, &history.Decided{
				Head: is, Outcome: history.Accepted, Metric: &value, Best: &value,
				Commit: commit,
			}, &history.Finished{Head: is})
			_, err := c.Update(t.Context(),
				memory.Update{
					Program: "x", Message: "m",
					Branch: &git.RefUpdate{Ref: branchRef, Old: from, New: commit},
					Apply: func(current memory.Files) (memory.Files, error) {
						log, err := current.Log()
						require.NoError(t, err)
						return memory.Files{State: []byte("x"), Ledger: log}, log.Append(events...)
					},
				})
			require.NoError(t, err)
		}
		zero := metric.FromInt(0)
		c.add("x", "begun")
		was, next := "", c.commit("next", base)
		keep("", next, &history.Measured{
			Head: history.Head{Run: "1"}, Role: history.Baseline, Metric: &zero,
			Commit: base,
		})
		if first {
			c.user("update-ref", "-d", branchRef)
		} else {
			was, next = next, c.commit("later", next)
			keep(was, next)
			c.user("update-ref", branchRef, was)
		}
		head, err := c.HeadOf(t.Context(), branchRef)
		require.NoError(t, err)
		assert.Equal(t, next, head, name)
		assert.Equal(t, was, c.has(branchRef), "reading moves nothing")
		_, err = c.Update(t.Context(),
			memory.Update{Program: "x", Message: "m", Apply: adding("more"), Claims: branchRef})
		require.NoError(t, err)
		assert.Equal(t, next, c.has(branchRef), name)

		c.user("update-ref", branchRef, base)
		head, err = c.HeadOf(t.Context(), branchRef)
		require.NoError(t, err)
		assert.Equal(t, base, head, "what a person does later is not undone")
	}
}

// A lock that a killed process left is an error that names it; without it the update goes on.
func TestKilledWithARefLocked(t *testing.T) {
	long.Only(t, long.Kills)
	t.Parallel()
	c := newCheckout(t)
	c.add("x", "1")
	lock := filepath.Join(c.dir, ".git", filepath.FromSlash(memoryRef)+".lock")
	require.NoError(t, os.WriteFile(lock, nil, 0o644))
	update := memory.Update{
		Program: "x", Message: "m", Apply: adding("2"),
		Branch: &git.RefUpdate{Ref: branchRef, New: c.has("HEAD")},
	}
	_, err := c.Update(t.Context(), update)
	require.ErrorContains(t, err, "remove "+lock)
	require.NoError(t, os.Remove(lock))
	commit, err := c.Update(t.Context(), update)
	require.NoError(t, err)
	assert.Equal(t, commit, c.has(memoryRef))
	assert.Equal(t, []string{"1", "2"}, c.ledger("x"))
}

// TestWhatIsDatedLaterThanItWasWritten: clocks of two machines may differ, by minutes.
func TestWhatIsDatedLaterThanItWasWritten(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		event, commit time.Duration // after now
		says          string
	}{
		"as it was":                 {-time.Hour, 0, ""},
		"clocks that differ":        {9 * time.Minute, 9 * time.Minute, ""},
		"an event after its commit": {11 * time.Minute, 0, "iteration 1 has an event of "},
		"a commit of tomorrow":      {0, 24 * time.Hour, "which is not yet"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newCheckout(t)
			log := &history.Log{}
			require.NoError(t, log.Append(
				&history.Started{Head: history.Head{Iteration: 1, Run: "r", Time: m.Now().Add(c.event)}}))
			files := map[string]*git.File{}
			for _, it := range log.Iterations() {
				files[fmt.Sprintf("p.iterations/000/%06d.json", it.Number)] = &git.File{Data: it.Text()}
			}
			commit, err := m.Repo.CommitFiles(t.Context(), "", files, nil, "by hand\n", m.Now().Add(c.commit))
			require.NoError(t, err)
			found, err := memory.Rewritten(t.Context(), m.Memory, commit, "p", log)
			require.NoError(t, err)
			if c.says == "" {
				assert.Empty(t, found)
				return
			}
			require.Len(t, found, 1)
			assert.Contains(t, found[0], c.says)
		})
	}
}
