package memory_test

import (
	"fmt"
	"maps"
	"strings"
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
		"gone": "it has no records yet", "table": "table.results.tsv on the memory branch:",
		"state":  "read state.md on the memory branch: ",
		"ledger": "read ledger.iterations/000/000002.json",
		"alone":  "read alone.md on the memory branch: ",
		"file":   "file.iterations/ on the memory branch:", "a/b": "is no name of a program",
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
	// files has iterations from 0 on, with settings each: "a|_|b,c" has none of 1, "." is one without any, "state" is
	// no iteration and "gone" not even a state.
	files := func(text string) map[string]string {
		if text == "gone" {
			return nil
		}
		all := map[string]string{".md": "x"}
		for number, keys := range strings.Split(text, "|") {
			if keys != "_" && keys != "state" {
				all[fmt.Sprintf(".iterations/000/%06d.json", number)] = iteration(number,
					strings.FieldsFunc(keys, func(r rune) bool { return r == ',' || r == '.' })...)
			}
		}
		return all
	}
	changes := func(n int) string { return fmt.Sprintf("changes or removes what iteration %d had recorded", n) }
	removes := func(n int) string { return fmt.Sprintf("removes iteration %d, and leaves the state", n) }
	cases := map[string]struct {
		steps string
		says  [3]string
	}{
		"grows":                 {". a|b a|b,c|d", [3]string{}},
		"stays":                 {"a|b a|b a|b", [3]string{}},
		"begins later":          {"gone state a|b", [3]string{}},
		"the newest is changed": {"a|b a|c a|c", [3]string{1: changes(1)}},
		"and put back":          {"a|b a|c a|b", [3]string{"", changes(1), changes(1)}},
		"something put before":  {"a|b a|b a|c,b", [3]string{2: changes(1)}},
		"shortened":             {"a,b a,b a", [3]string{2: changes(0)}},
		"emptied":               {"a . a", [3]string{1: changes(0)}},
		"an older one grows": {
			"a|b a,c|b a,c|b", [3]string{1: "changes iteration 0, after which iteration 1 had begun"},
		},
		"one put in between":    {"a|_|b a|c|b a|c|b", [3]string{1: "adds iteration 1 after iteration 2"}},
		"and begun anew":        {"a|_|b a|c|b gone", [3]string{}},
		"removed":               {"a state a", [3]string{"", removes(0), "adds iteration 0 after iteration 0"}},
		"the newest is removed": {"a|b a|b a", [3]string{2: removes(1)}},
		"begun anew":            {"a|b gone z", [3]string{}},
		"forged before":         {"a|b z|b gone", [3]string{}},
	}
	c := newCheckout(t)
	var commits []string
	for step := range 3 {
		tree := map[string]*git.File{}
		for name, test := range cases {
			steps := strings.Fields(test.steps)
			if step > 0 {
				for file := range files(steps[step-1]) {
					tree[name+file] = nil
				}
			}
			for file, text := range files(steps[step]) {
				tree[name+file] = &git.File{Data: []byte(text)}
			}
			tree[name+".tsv"] = &git.File{Data: []byte{byte('0' + step)}} // each commit changes something
		}
		commits = append(commits, c.atop(tree, commits[max(step-1, 0):]...))
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, err := memory.Rewritten(t.Context(), c.Memory, commits[2], name, &history.Log{})
			require.NoError(t, err)
			var want []string
			for step, commit := range commits {
				if test.says[step] != "" {
					want = append(want, fmt.Sprintf("commit %.12s %s", commit, test.says[step]))
				}
			}
			assert.Equal(t, want, found)
		})
	}
}

// TestMissingLedgerIsNotBegunAnew: nobody would see that the program had one.
func TestMissingLedgerIsNotBegunAnew(t *testing.T) {
	t.Parallel()
	c := newCheckout(t)
	var commits []string
	const suffix = ".iterations/000/000000.json"
	put := func(program string, state, ledger bool) map[string]*git.File {
		files := map[string]*git.File{program + ".md": nil, program + suffix: nil}
		if state {
			files[program+".md"] = &git.File{Data: []byte("state\n")}
		}
		if ledger {
			files[program+suffix] = &git.File{Data: []byte(iteration(0, "line"))}
		}
		return files
	}
	commit := func(all ...map[string]*git.File) {
		files := map[string]*git.File{}
		for _, one := range all {
			maps.Copy(files, one)
		}
		commits = append(commits, c.atop(files, commits[max(len(commits)-1, 0):]...))
	}
	commit(put("p", true, true), put("whole", true, true), put("fine", true, true), put("young", true, false),
		put("back", true, true))
	commit(put("p", true, false), put("whole", false, false), put("back", true, false))
	commit(put("back", true, true), put("whole", true, false))
	before := c.has(memoryRef)
	_, err := c.Update(t.Context(), memory.Update{Program: "p", Message: "m", Apply: adding("more")})
	require.ErrorContains(t, err, "the ledger of p is gone and its state is not: commit "+commits[1][:12]+
		" of branch memory/autoloop took it away")
	assert.Equal(t, before, c.has(memoryRef))
	for _, name := range []string{"whole", "fine", "young", "back", "new"} {
		c.add(name, "more")
	}
	assert.Equal(t, []string{"line", "more"}, c.ledger("fine"))
	commits = []string{c.has(memoryRef)}
	commit(put("p", false, false))
	c.add("p", "anew")
	assert.Equal(t, []string{"anew"}, c.ledger("p"), "the cure that the error names")
}

// TestCutBackBranchIsRefused: who goes on from it forgets what was recorded.
func TestCutBackBranchIsRefused(t *testing.T) {
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
			_, err := c.Update(t.Context(), more("3"))
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
		keep := func(number int, from, commit string) {
			zero := metric.FromInt(0)
			is := history.Head{Run: fmt.Sprint(number), Iteration: number}
			_, err := c.Update(t.Context(), memory.Update{
				Program: "x", Message: "m", Branch: &git.RefUpdate{Ref: branchRef, Old: from, New: commit},
				Apply: func(current memory.Files) (memory.Files, error) {
					log, err := current.Log()
					require.NoError(t, err)
					return memory.Files{State: []byte("x"), Ledger: log}, log.Append(&history.Started{Head: is},
						&history.Measured{Head: is, Role: history.Baseline, Metric: &zero, Commit: base},
						&history.Decided{Head: is, Outcome: history.Accepted, Best: &zero, Commit: commit},
						&history.Finished{Head: is})
				},
			})
			require.NoError(t, err)
		}
		c.add("x", "begun")
		was, next := "", c.commit("next", base)
		keep(1, "", next)
		if first {
			c.user("update-ref", "-d", branchRef)
		} else {
			was, next = next, c.commit("later", next)
			keep(2, was, next)
			c.user("update-ref", branchRef, was)
		}
		head, err := c.HeadOf(t.Context(), branchRef)
		require.NoError(t, err)
		assert.Equal(t, next, head, name)
		assert.Equal(t, was, c.has(branchRef), "reading moves nothing")
		update := more("more")
		update.Claims = branchRef
		_, err = c.Update(t.Context(), update)
		require.NoError(t, err)
		assert.Equal(t, next, c.has(branchRef), name)

		c.user("update-ref", branchRef, base)
		head, err = c.HeadOf(t.Context(), branchRef)
		require.NoError(t, err)
		assert.Equal(t, base, head, "what a person does later is not undone")
	}
}

// TestEventsOfTheFuture: clocks of two machines may differ, by minutes.
func TestEventsOfTheFuture(t *testing.T) {
	t.Parallel()
	m := newCheckout(t)
	for name, c := range map[string]struct {
		event, commit time.Duration // after now
		says          string
	}{
		"as it was":                 {-time.Hour, 0, ""},
		"clocks that differ":        {9 * time.Minute, 9 * time.Minute, ""},
		"an event after its commit": {11 * time.Minute, 0, "iteration 1 has an event of "},
		"a commit of tomorrow":      {0, 24 * time.Hour, "which is not yet"},
	} {
		log := &history.Log{}
		require.NoError(t, log.Append(&history.Started{Head: history.Head{Iteration: 1, Time: m.Now().Add(c.event)}}))
		files := map[string]*git.File{"p.iterations/000/000000.json": {Data: log.Iterations()[0].Text()}}
		files["p.iterations/000/000001.json"] = &git.File{Data: log.Iterations()[1].Text()}
		commit, err := m.Repo.CommitFiles(t.Context(), "", files, nil, "by hand\n", m.Now().Add(c.commit))
		require.NoError(t, err)
		found, err := memory.Rewritten(t.Context(), m.Memory, commit, "p", log)
		require.NoError(t, err)
		assert.Contains(t, strings.Join(found, "\n"), c.says, name)
		assert.Equal(t, c.says != "", len(found) == 1, "%s: %v", name, found)
	}
}
