package memory_test

import (
	"errors"
	"fmt"
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
	"github.com/org/autoloop/tests/golden"
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
	for _, name := range []string{"gone", "table", "state", "ledger", "alone", "file", "a/b", "fresh"} {
		records, err := c.Records(t.Context(), name, "autoloop/"+name, nil)
		golden.Row(t, name, err)
		assert.Equal(t, name == "gone", errors.Is(err, memory.ErrNoRecords))
		assert.True(t, err != nil || len(audit.Of(records, nil).Findings) == 0)
	}
}

// TestHistoriesThatAreRewrittenAreFound: a commit begins an iteration or adds to the newest,
// and a program that was removed whole begins anew.
func TestHistoriesThatAreRewrittenAreFound(t *testing.T) {
	t.Parallel()
	// files has iterations from 0 on, with settings each: "a|_|b,c" has none of 1, "." is one without any, "state" is
	// no iteration, "gone" not even a state, and "-" takes the state away.
	files := func(text string) map[string]string {
		if text == "gone" {
			return nil
		}
		all := map[string]string{".md": "x"}
		for number, keys := range strings.Split(text, "|") {
			if keys == "-" {
				delete(all, ".md")
			} else if keys != "_" && keys != "state" {
				all[fmt.Sprintf(".iterations/000/%06d.json", number)] = iteration(number,
					strings.FieldsFunc(keys, func(r rune) bool { return r == ',' || r == '.' })...)
			}
		}
		return all
	}
	cases := map[string]string{
		"grows":                   ". a|b a|b,c|d",
		"stays":                   "a|b a|b a|b",
		"begins later":            "gone state a|b",
		"the newest is changed":   "a|b a|c a|c",
		"and put back":            "a|b a|c a|b",
		"something put before":    "a|b a|b a|c,b",
		"shortened":               "a,b a,b a",
		"emptied":                 "a . a",
		"an older one grows":      "a|b a,c|b a,c|b",
		"one put in between":      "a|_|b a|c|b a|c|b",
		"put between, then anew":  "a|_|b a|c|b gone",
		"removed":                 "a state a",
		"the newest is removed":   "a|b a|b a",
		"begun anew":              "a|b gone z",
		"forged without a state":  "a|b z|_|- z|_|-",
		"forged, then begun anew": "a|b z|b gone",
	}
	c := newCheckout(t)
	var commits []string
	for step := range 3 {
		tree := map[string]*git.File{}
		for name, texts := range cases {
			steps := strings.Fields(texts)
			if step > 0 {
				for path := range files(steps[step-1]) {
					tree[name+path] = nil
				}
			}
			for path, text := range files(steps[step]) {
				tree[name+path] = file(text)
			}
			tree[name+".tsv"] = file(fmt.Sprint(step)) // each commit changes something
		}
		commits = append(commits, c.atop(tree, commits[max(step-1, 0):]...))
	}
	for name := range cases {
		found, err := memory.Rewritten(t.Context(), c.Memory, commits[2], name, &history.Log{})
		require.NoError(t, err)
		says := strings.Join(found, "\n")
		for step, commit := range commits {
			says = strings.ReplaceAll(says, commit[:12], fmt.Sprint("number ", step+1))
		}
		golden.Row(t, name, says)
	}
}

// TestMissingLedgerIsNotBegunAnew: nobody would see that the program had one.
func TestMissingLedgerIsNotBegunAnew(t *testing.T) {
	t.Parallel()
	c := newCheckout(t)
	var commits []string
	// commit has the state and the ledger of each program that says so.
	commit := func(programs string) {
		files := map[string]*git.File{}
		for _, one := range strings.Fields(programs) {
			program, has, _ := strings.Cut(one, ":")
			files[program+".md"], files[program+".iterations/000/000000.json"] = nil, nil
			if strings.Contains(has, "s") {
				files[program+".md"] = file("state\n")
			}
			if strings.Contains(has, "l") {
				files[program+".iterations/000/000000.json"] = file(iteration(0, "line"))
			}
		}
		commits = append(commits, c.atop(files, commits[max(len(commits)-1, 0):]...))
	}
	commit("p:sl whole:sl fine:sl young:s back:sl")
	commit("p:s whole: back:s")
	commit("back:sl whole:s")
	_, err := c.Update(t.Context(), more("p", "more"))
	require.ErrorContains(t, err, "commit "+commits[1][:12]+" of branch memory/autoloop took it away")
	assert.Equal(t, commits[2], c.has(memoryRef))
	for _, name := range []string{"whole", "fine", "young", "back", "new"} {
		c.add(name, "more")
	}
	assert.Equal(t, []string{"line", "more"}, c.ledger("fine"))
	commits = []string{c.has(memoryRef)}
	commit("p:")
	c.add("p", "anew")
	assert.Equal(t, []string{"anew"}, c.ledger("p"), "the cure that the error names")
}

// TestCutBackBranchIsRefused: who goes on from it forgets what was recorded.
func TestCutBackBranchIsRefused(t *testing.T) {
	t.Parallel()
	_, clone := newShared(t)
	for name, c := range map[string]*checkout{"local": newCheckout(t), "shared": clone()} {
		first := c.add("x", "1")
		second := c.add("x", "2")
		move := func(to string) {
			c.Git("update-ref", memoryRef, to)
			if name == "shared" {
				c.Git("push", "-q", "--force", "origin", to+":"+memoryRef)
			}
		}
		other := c.Git("commit-tree", "-m", "other", first+"^{tree}")
		for _, to := range []string{first, other} {
			move(to)
			_, err := c.Update(t.Context(), more("x", "3"))
			var rewritten *memory.RewrittenError
			require.ErrorAs(t, err, &rewritten, name)
			assert.Equal(t, memory.RewrittenError{Seen: second, Now: to}, *rewritten)
			require.ErrorContains(t, err, "iterate resume NAME --memory "+to[:12])
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
					log := current.Ledger.Copy()
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
			c.Git("update-ref", "-d", branchRef)
		} else {
			was, next = next, c.commit("later", next)
			keep(2, was, next)
			c.Git("update-ref", branchRef, was)
		}
		head, err := c.HeadOf(t.Context(), branchRef)
		require.NoError(t, err)
		assert.Equal(t, next, head, name)
		assert.Equal(t, was, c.has(branchRef), "reading moves nothing")
		require.NoError(t, c.claim("more"))
		assert.Equal(t, next, c.has(branchRef), name)

		c.Git("update-ref", branchRef, base)
		head, err = c.HeadOf(t.Context(), branchRef)
		require.NoError(t, err)
		assert.Equal(t, base, head, "what a person does later is not undone")
	}
}

// TestEventsOfTheFuture: clocks of two machines may differ, by minutes.
func TestEventsOfTheFuture(t *testing.T) {
	t.Parallel()
	c := newCheckout(t)
	for name, after := range map[string][2]time.Duration{ // of the event and of the commit, after now
		"as it was":                 {-time.Hour, 0},
		"clocks that differ":        {9 * time.Minute, 9 * time.Minute},
		"an event after its commit": {11 * time.Minute, 0},
		"a commit of tomorrow":      {0, 24 * time.Hour},
	} {
		log := (*history.Log)(nil).Copy()
		at := c.Now().Add(after[0])
		require.NoError(t, log.Append(&history.Started{Head: history.Head{Iteration: 1, Time: at}}))
		files := map[string]*git.File{}
		for i, it := range log.Iterations() {
			files[fmt.Sprintf("p.iterations/000/%06d.json", i)] = &git.File{Data: it.Text()}
		}
		commit, err := c.Repo.CommitFiles(t.Context(), "", files, nil, "by hand\n", c.Now().Add(after[1]))
		require.NoError(t, err)
		found, err := memory.Rewritten(t.Context(), c.Memory, commit, "p", log)
		require.NoError(t, err)
		golden.Row(t, name, strings.ReplaceAll(strings.Join(found, "\n"), commit[:12], "of it"))
	}
}
