package loop

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/tests/golden"
)

// programOf parses a program with further lines in its frontmatter.
func programOf(t *testing.T, front string) *program.Program {
	t.Helper()
	p := program.Parse(".autoloop/programs/p.md", []byte(fmt.Sprintf(testProgram, front)))
	require.Empty(t, p.Problems)
	return p
}

// journalOf is a journal of a program with records that nothing was written to.
func journalOf(t *testing.T, front string) *journal {
	t.Helper()
	j := newMemoryRun(t, front).journal
	j.id = "run"
	j.records.id = j.id
	return j
}

// sessionOf is a run of a program, whose clock goes on by a second whenever it is read.
func sessionOf(p *program.Program) *session {
	clock := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	now := func() time.Time { clock = clock.Add(time.Second); return clock }
	return &session{Service: &Service{Program: p, Now: now}}
}

func numbers(texts ...string) []metric.Value {
	var list []metric.Value
	for _, text := range texts {
		list = append(list, metric.MustValue(text))
	}
	return list
}

// TestStaleBaselines: every single reason alone measures anew, and of several
// the one is said that explains the others.
func TestStaleBaselines(t *testing.T) {
	t.Parallel()
	type state struct {
		journal *journal
		at      position
	}
	valid := func(t *testing.T) *state {
		s := &state{journal: journalOf(t, ""), at: position{
			Head: "head", PushOnto: "head", Base: "base", BaseBranch: "main",
			identity: identity{
				Evaluator: "e", Definition: "d",
				Executor: &history.Executor{Agent: "claude", Model: "m"},
			},
		}}
		s.journal.records.Summary = history.Summary{
			Best: metricOf("1"), Direction: metric.Higher, Definition: "d", Evaluator: "e", Base: "base",
			Incumbent: "head", EvaluatorWrites: map[string]bool{},
			InitialRuns: 2,
			Executor:    &history.Executor{Agent: "claude", Model: "m"},
		}
		return s
	}
	causes := []struct {
		why   string
		spoil func(*state)
	}{
		{"first measurement", func(s *state) { s.journal.records.Best = nil }},
		{
			"direction changed from lower to higher",
			func(s *state) { s.journal.records.Direction = metric.Lower },
		},
		{"the program's evaluation changed", func(s *state) { s.at.Definition = "another" }},
		{"the default branch moved on", func(s *state) { s.at.Base = "another" }},
		{"the program branch has commits that are", func(s *state) { s.at.PushOnto = "another" }},
		{"files of the evaluation changed", func(s *state) { s.at.Evaluator = "another" }},
		{"files of the evaluation changed", func(s *state) { s.journal.records.EvaluatorWrites = nil }},
		{"the model", func(s *state) { s.at.Executor.Model = "another" }},
		{"the incumbent was not what is on record", func(s *state) { s.journal.records.Disagreements = 3 }},
		{"the evaluation turned out noisy", func(s *state) { s.journal.records.Noisy = true }},
	}
	assert.Empty(t, valid(t).journal.needsBaseline(valid(t).at))
	for i, first := range causes {
		for _, second := range causes[i:] {
			s := valid(t)
			second.spoil(s)
			first.spoil(s)
			assert.Contains(t, decision.Text(s.journal.needsBaseline(s.at)), first.why, "with %s", second.why)
		}
	}
}

// TestValidBaseline in spite of what looks like a reason to measure anew.
func TestValidBaseline(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		front string
		sum   history.Summary
		at    position
	}{
		"a branch whose merged head is not pushed": {
			"", history.Summary{Incumbent: "tip"}, position{PushOnto: "tip", Head: "merged"},
		},
		"noisy, and measured as often as asked": {
			"evaluation-runs: 12",
			history.Summary{Noisy: true, InitialRuns: 12},
			position{},
		},
		"noisy, and measured less often": {
			"evaluation-runs: 12",
			history.Summary{Noisy: true, InitialRuns: 11},
			position{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := journalOf(t, c.front)
			c.sum.Best, c.sum.Direction, c.sum.EvaluatorWrites = metricOf("1"), metric.Higher, map[string]bool{}
			j.records.Summary = c.sum
			golden.Line(t, decision.Text(j.needsBaseline(c.at)))
		})
	}
}

// TestIdentityOfEvaluator: of everything but the content of the target, and of
// no order.
func TestIdentityOfEvaluator(t *testing.T) {
	t.Parallel()
	entries := []git.TreeEntry{
		{Mode: "100644", ID: "1", Path: "value.txt"},
		{Mode: "100644", ID: "2", Path: "lib/a"},
		{Mode: "100755", ID: "3", Path: "lib/b"},
	}
	identify := func(front string, change func([]git.TreeEntry) []git.TreeEntry) identity {
		found, err := journalOf(t, front).identify(change(slices.Clone(entries)))
		require.NoError(t, err)
		return found
	}
	same := func(e []git.TreeEntry) []git.TreeEntry { return e }
	of := identify("", same)
	assert.Regexp(t, "^[0-9a-f]{16}$", of.Evaluator)
	assert.Regexp(t, "^[0-9a-f]{16}$", of.Definition)
	assert.Nil(t, of.Executor)
	for name, c := range map[string]struct {
		front      string
		change     func([]git.TreeEntry) []git.TreeEntry
		evaluator  bool // is another
		definition bool
	}{
		"the target's content": {
			"", func(e []git.TreeEntry) []git.TreeEntry { e[0].ID = "9"; return e },
			false, false,
		},
		"another file's content": {
			"", func(e []git.TreeEntry) []git.TreeEntry { e[1].ID = "9"; return e },
			true, false,
		},
		"a guardrail": {
			"guardrails:\n  - metric: size\n    direction: lower\n    max-regression: 5", same,
			true, true,
		},
		"how often it is measured": {"evaluation-runs: 5", same, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := identify(c.front, c.change)
			assert.Equal(t, c.evaluator, got.Evaluator != of.Evaluator)
			assert.Equal(t, c.definition, got.Definition != of.Definition)
		})
	}
}
