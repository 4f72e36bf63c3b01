package loop

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/github/ci"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/audit"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/loop/evaluation"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/tests/long"
)

// putOff writes runs that were put off, or that found CI without an answer when an
// iteration waits for it, so many that all decisions are sealed.
func (b *bed) putOff() {
	b.t.Helper()
	waits := b.records().standing().Waiting() != nil
	for part := range 4 {
		_, err := b.service.Memory.Update(b.t.Context(), memory.Update{Program: "p", Message: "put off", Apply: func(files memory.Files) (memory.Files, error) {
			records, err := openRecords(b.service.Program, files)
			require.NoError(b.t, err)
			for n := range 200 {
				at := b.now()
				is := history.Head{Time: at, Run: fmt.Sprintf("later-%d-%d", part, n), Iteration: records.sum.Iteration + 1}
				until := at.Add(-time.Minute)
				finished := &history.Finished{Head: is, NotBefore: &until, Reason: "the service is busy", Work: history.Work{Agent: "scripted"}}
				if waits {
					finished = &history.Finished{Head: is, Outcome: history.PendingCI}
				}
				require.NoError(b.t, records.log.Append(&history.Started{Head: is, Lease: &history.Lease{Host: "here", PID: 1, Until: until}}, finished))
			}
			records.sum = records.log.Summary()
			return records.files(b.service.Program, nil)
		}})
		require.NoError(b.t, err)
	}
	require.False(b.t, slices.ContainsFunc(b.records().log.Events, func(e history.Event) bool { return history.KindOf(e) == history.KindOf(&history.Decided{}) }))
}

// replays holds that the audit of all records finds nothing.
func (b *bed) replays() {
	b.t.Helper()
	auditor := audit.New(decision.Known(), nil)
	records, err := b.service.Memory.Records(b.t.Context(), auditor, "p", BranchPrefix+"p", nil)
	require.NoError(b.t, err)
	assert.Empty(b.t, auditor.Report(records).Findings)
}

// TestThePromptAfterMonths: an agent whose service was busy for so long that what the last
// candidate printed is sealed is told of it.
func TestThePromptAfterMonths(t *testing.T) {
	t.Parallel()
	b := newBed(t, "", "1", "2", "3")
	b.run = func(_ evaluation.Request, value string) evaluation.Result {
		if value == "2" {
			return evaluation.Result{Problem: "it exits with 1", Tail: "two is no odd number"}
		}
		return evaluation.Result{}
	}
	require.Equal(t, history.Rejected, b.one().Outcome)
	b.putOff()
	write, prompt := b.agent, ""
	b.agent = func(request agent.Request) agent.Reply {
		prompt = request.Prompt
		return write(request)
	}
	require.Equal(t, history.Accepted, b.one().Outcome)
	assert.Contains(t, prompt, "two is no odd number")
	b.replays()
}

// TestABundleAgainAfterMonths: who publishes a bundle again is shown the result, with its
// numbers, after it was sealed.
func TestABundleAgainAfterMonths(t *testing.T) {
	t.Parallel()
	b := newBed(t, "guardrails:\n  - metric: size\n    direction: lower\n    max-regression: 5", `{"m": 1, "size": 6}`, `{"m": 3, "size": 7}`)
	onGitHub(t, b).hasCI = false
	made, _, err := b.service.Propose(t.Context())
	require.NoError(t, err)
	require.NotNil(t, made)
	made.ID = "bundle"
	first, err := b.service.Publish(t.Context(), *made)
	require.NoError(t, err)
	require.NotEmpty(t, first.Guardrails)
	require.NotNil(t, first.Guardrails[0].Candidate)
	b.putOff()
	again, err := b.service.Publish(t.Context(), *made)
	require.NoError(t, err)
	assert.Equal(t, []any{first.Iteration, first.Outcome, first.Metric, first.Summary, first.Guardrails}, []any{again.Iteration, again.Outcome, again.Metric, again.Summary, again.Guardrails})
}

// TestAPersonsWordsOutliveTheirSegment: an entry of the state that a person changed stays
// when what was decided is sealed, and those that nobody changed are folded.
func TestAPersonsWordsOutliveTheirSegment(t *testing.T) {
	long.Only(t, long.Simulations)
	t.Parallel()
	var values []string
	for n := range 40 {
		values = append(values, fmt.Sprint(n+2))
	}
	b := newBed(t, "", "1", values...)
	b.iterate(5)
	state := b.git("show", memory.MemoryBranch+":p.md")
	require.Contains(t, state, "try 4\n")
	edited := strings.Replace(state, "try 4\n", "try 4, which I like\n", 1)
	_, err := b.service.Memory.Update(t.Context(), memory.Update{Program: "p", Message: "edit", Apply: func(files memory.Files) (memory.Files, error) {
		files.State = []byte(edited + "\n")
		return files, nil
	}})
	require.NoError(t, err)
	b.putOff()
	b.iterate(12)
	b.putOff()
	b.iterate(3)
	state = b.git("show", memory.MemoryBranch+":p.md")
	assert.Contains(t, state, "try 4, which I like")
	for n := 1; n <= 20; n++ {
		assert.Equal(t, n == 3 || n > 10, strings.Contains(state, fmt.Sprintf("### Iteration %d ", n)), "iteration %d", n)
	}
}

// TestCIDecidesAfterMonths: a candidate whose decision was sealed while it waited for CI is
// what CI makes of it.
func TestCIDecidesAfterMonths(t *testing.T) {
	long.Only(t, long.Simulations)
	t.Parallel()
	for _, c := range []struct {
		name    string
		says    []ci.Result
		outcome history.Outcome
		kept    string
	}{
		{"green", []ci.Result{waiting(), green()}, history.Accepted, "3"},
		{"a fix helps", []ci.Result{waiting(), red("build", "error: x"), green()}, history.Accepted, "4"},
		{"red for good", []ci.Result{waiting(), red("build", "error: x")}, history.CIFixExhausted, "1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			run := func(months bool) (result Result, said []string, best string) {
				b := newBed(t, "ci-wait: 0m", "1")
				calls := 0
				b.proposeInTurn(&calls, "3", "4", "5", "6")
				onGitHub(t, b).ci = c.says
				require.Equal(t, history.PendingCI, b.one().Outcome)
				if months {
					b.putOff()
				}
				for result.Outcome = history.PendingCI; result.Outcome == history.PendingCI; {
					result = b.one()
				}
				assert.Equal(t, c.kept, b.kept())
				b.replays()
				sum := b.records().sum
				for _, samples := range sum.Samples {
					said = append(said, samples.String())
				}
				return result, append(said, sum.Output), sum.Best.String()
			}
			want, wantSaid, wantBest := run(false)
			got, gotSaid, gotBest := run(true)
			assert.Equal(t, c.outcome, got.Outcome)
			assert.Equal(t, want.Metric, got.Metric)
			assert.Equal(t, wantSaid, gotSaid)
			assert.Equal(t, wantBest, gotBest)
		})
	}
}

// TestTableIsReadAgainWhenItIsAnother: a table to which an attempt added that never got
// through is not taken for the one on record, and neither is one that a person changes
// while an iteration runs.
func TestTableIsReadAgainWhenItIsAnother(t *testing.T) {
	t.Parallel()
	b := newBed(t, "", "1", "2", "3")
	b.one()
	files, _, err := b.service.Memory.Read(t.Context(), "p")
	require.NoError(t, err)
	before, err := openRecords(b.service.Program, files)
	require.NoError(t, err)
	again, err := openRecordsAfter(b.service.Program, files, before)
	require.NoError(t, err)
	assert.Same(t, before.table, again.table, "it is the same")
	require.NoError(t, again.table.Append(results.Row{Iteration: 2, Action: results.Reverted, Changelog: "lost"}, metric.Higher))
	again, err = openRecordsAfter(b.service.Program, files, again)
	require.NoError(t, err)
	assert.Equal(t, string(files.Results), string(again.table.Bytes()))
	assert.Len(t, again.table.Rows(), 2)

	propose := b.agent
	b.agent = func(request agent.Request) agent.Reply {
		_, err := b.service.Memory.Update(t.Context(), memory.Update{Program: "p", Message: "edit", Apply: func(files memory.Files) (memory.Files, error) {
			files.Results = []byte(strings.Replace(string(files.Results), "try 2", "my favourite", 1))
			return files, nil
		}})
		require.NoError(t, err)
		return propose(request)
	}
	b.one()
	table := b.git("show", memory.MemoryBranch+":p.results.tsv")
	assert.Contains(t, table, "my favourite")
	assert.Contains(t, table, "try 3")
	assert.NotContains(t, table, "try 2")
}
