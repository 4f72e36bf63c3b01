package skill

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/prompt"
	"github.com/org/autoloop/internal/suite"
	"github.com/org/autoloop/internal/suite/evalrun"
)

// iterate makes one candidate from the best version, and keeps it when it is
// strictly better: snapshot, row and manifest, in this order, so that a process that is killed
// leaves the old best or the new one.
func (l *Loop) iterate(ctx context.Context) error {
	row := results.Row{Iteration: l.table.Last + 1, Action: results.Reverted}
	if err := DiscardSnapshot(l.Version(row.Iteration)); err != nil { // of an interrupted run, which has no row
		return err
	}
	said, err := l.candidate(ctx, &row)
	if err == nil && row.Action == results.Kept {
		_, err = TakeSnapshot(ctx, l.Candidate(), l.Version(row.Iteration))
	}
	if err != nil {
		return err
	}
	row.Changelog = joinRemarks(said...)
	if err := l.enter(row); err != nil || row.Action == results.Reverted {
		return err
	}
	return l.load()
}

// candidate makes one and measures it. The row gets what was decided, and what is returned is to
// be said of it.
func (l *Loop) candidate(ctx context.Context, row *results.Row) (said []string, err error) {
	if err := l.restore(ctx); err != nil {
		return nil, err
	}
	before, err := Scan(ctx, l.Candidate())
	if err != nil {
		return nil, err
	}
	reply, err := l.propose(ctx, row.Iteration, before)
	if err != nil {
		return nil, err
	}
	if failure := reply.Failure; failure != nil {
		switch failure.Kind {
		case agent.Unavailable, agent.Authentication, agent.RateLimit:
			return nil, fmt.Errorf("the improver: %w", failure)
		default:
			return []string{"the improver failed: " + failure.Error()}, nil
		}
	}
	proposed, refused := l.guard(ctx, before)
	if refused != "" {
		return []string{reply.Summary, refused}, nil
	}
	remarks, err := l.try(ctx, row)
	if err != nil {
		return nil, err
	}
	now, err := Scan(ctx, l.Candidate())
	same := err == nil && now.Digest() == proposed.Digest()
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case !same:
		row.Score, row.Action = nil, results.Reverted
		return []string{reply.Summary, "its files changed while it was measured"}, nil
	case row.Action == results.Kept && reply.Summary == "":
		reply.Summary = "changed the skill"
	}
	return []string{reply.Summary, remarks}, nil
}

// restore makes the candidate equal to the best version.
func (l *Loop) restore(ctx context.Context) error {
	candidate := l.Candidate()
	if err := files.RemoveAll(candidate); err != nil { // a link that an improver put there is not followed
		return err
	}
	_, err := Restore(ctx, l.Version(l.table.Best), candidate)
	return err
}

// guard reads a candidate, and says why it is not measured, or "".
func (l *Loop) guard(ctx context.Context, before Content) (after Content, refused string) {
	if info, err := os.Lstat(l.Candidate()); err == nil && !info.IsDir() {
		return after, "its directory was exchanged" // a link would lead what is done to it elsewhere
	}
	after, err := Scan(ctx, l.Candidate())
	switch {
	case err != nil:
		return after, err.Error()
	case after.Digest() == before.Digest():
		return after, "no change proposed"
	case after.Below(suite.EvalsDir).Digest() != before.Below(suite.EvalsDir).Digest():
		return after, "it changed the eval suite, which nobody who is graded by it may"
	}
	if entry, there := after.Find("SKILL.md"); !there || !entry.IsFile() {
		return after, "it has no SKILL.md any more"
	}
	return after, ""
}

// maxFailures bounds what an improver hears of failures, in bytes.
const maxFailures = 4000

// propose lets the improver work on the candidate.
func (l *Loop) propose(ctx context.Context, n int, content Content) (agent.Reply, error) {
	home, env, err := l.Home()
	if err != nil {
		return agent.Reply{}, err
	}
	allowed := func(path string) bool { return path != suite.EvalsDir && !strings.HasPrefix(path, suite.EvalsDir+"/") }
	var files []string
	for _, entry := range content.Tree {
		if entry.IsFile() && allowed(entry.Path) {
			files = append(files, entry.Path)
		}
	}
	best, whole := l.best.Rate, metric.FromInt(1)
	text := prompt.Build(prompt.Input{
		Program: l.Suite.Name, Iteration: n, Goal: prompt.SkillGoal("Improve the skill "+l.Suite.Name+".", "."),
		Targets: []string{"**"}, Protected: []string{suite.EvalsDir + "/"},
		Files: files, Target: &whole,
		Summary: &history.Summary{
			Direction: metric.Higher, Best: &best, Initial: l.table.Row(l.table.Start).Score,
			Attempts: l.attempts(), Output: l.Options.Masker.String(evalrun.Failures(l.best, maxFailures)),
		},
	})
	l.Begin(fmt.Sprintf("iteration %d: the improver works", n))
	return l.Improver.Propose(ctx, agent.Request{
		Live: l.Say, Dir: l.Candidate(), Prompt: text, Env: env, Home: home, Timeout: l.Program.Timeout,
		Model: l.Program.Model, Command: l.Command,
		IsTarget: allowed, Targets: files, Direction: metric.Higher, Incumbent: &best, Iteration: n, Seed: 1,
	})
}

// attempts are the earlier iterations as the prompt shows them.
func (l *Loop) attempts() []history.Attempt {
	var list []history.Attempt
	best := l.table.Rows[0].Score
	for _, row := range l.table.Rows[1:] {
		if row.Action == results.Baseline { // measured anew
			best = row.Score
			continue
		}
		one := history.Attempt{Decided: &history.Decided{
			Head: history.Head{Iteration: row.Iteration, Time: row.Time}, Outcome: history.Rejected, Metric: row.Score,
			Work: history.Work{Summary: row.Changelog},
		}}
		if row.Score != nil && best != nil {
			one.Delta = metric.Delta(*row.Score, best)
		}
		if row.Action == results.Kept {
			one.Outcome, best = history.Accepted, row.Score
		}
		list = append(list, one)
	}
	return list
}
