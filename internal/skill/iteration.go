package skill

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/prompt"
	"github.com/org/autoloop/internal/skill/workspace"
	"github.com/org/autoloop/internal/suite/evals"
)

// iterate makes one candidate from the best version, and keeps it when it is
// strictly better.
func (s *state) iterate(ctx context.Context) (kept bool, err error) {
	n, candidate := s.last+1, s.Workspace.Candidate()
	if err := workspace.Discard(s.Workspace.Version(n)); err != nil { // of an interrupted run, which has no row
		return false, err
	}
	if err := s.restore(ctx); err != nil {
		return false, err
	}
	before, err := workspace.Scan(ctx, candidate)
	if err != nil {
		return false, err
	}
	reply, err := s.propose(ctx, n, before)
	if err != nil {
		return false, err
	}
	if failure := reply.Failure; failure != nil {
		switch failure.Kind {
		case agent.Unavailable, agent.Authentication, agent.RateLimit:
			return false, fmt.Errorf("the improver: %w", failure)
		default:
			return false, s.enter(n, nil, results.Reverted, "the improver failed: "+failure.Error())
		}
	}
	proposed, refused := s.guard(ctx, before)
	if refused != "" {
		return false, s.enter(n, nil, results.Reverted, joinRemarks(reply.Summary, refused))
	}
	found, err := s.try(ctx, n, candidate)
	if err != nil {
		return false, err
	}
	if now, err := workspace.Scan(ctx, candidate); ctx.Err() == nil &&
		(err != nil || now.Digest() != proposed.Digest()) {
		return false, s.enter(n, nil, results.Reverted,
			joinRemarks(reply.Summary, "its files changed while it was measured"))
	}
	if found.refused != "" {
		return false, s.enter(n, &found.Measured, results.Reverted,
			joinRemarks(reply.Summary, found.refused, found.remarks))
	}
	return true, s.keep(ctx, n, candidate, found, reply)
}

// restore makes the candidate equal to the best version.
func (s *state) restore(ctx context.Context) error {
	candidate := s.Workspace.Candidate()
	if err := files.RemoveAll(candidate); err != nil { // a link that an improver put there is not followed
		return err
	}
	_, err := workspace.Restore(ctx, s.Workspace.Version(s.Workspace.Best), candidate)
	return err
}

// keep makes the candidate the next version: snapshot, row and manifest, in this
// order, so that a process that is killed leaves the old best or the new one.
func (s *state) keep(ctx context.Context, n int, candidate string, found tried, reply agent.Reply) error {
	if _, err := workspace.Take(ctx, candidate, s.Workspace.Version(n)); err != nil {
		return err
	}
	text := cmp.Or(reply.Summary, "changed the skill")
	if err := s.enter(n, &found.Measured, results.Kept, joinRemarks(text, found.remarks)); err != nil {
		return err
	}
	s.best = found.Measured
	if found.several {
		var err error
		if s.best, err = s.read(n); err != nil {
			return err
		}
	}
	s.Workspace.Best = n
	return s.Workspace.Save()
}

// guard reads a candidate, and says why it is not measured, or "".
func (s *state) guard(ctx context.Context, before workspace.Tree) (after workspace.Tree, refused string) {
	if err := notExchanged(s.Workspace.Candidate()); err != nil {
		return nil, err.Error()
	}
	after, err := workspace.Scan(ctx, s.Workspace.Candidate())
	switch {
	case err != nil:
		return nil, err.Error()
	case after.Digest() == before.Digest():
		return nil, "no change proposed"
	case after.Below(evals.Dir).Digest() != before.Below(evals.Dir).Digest():
		return nil, "it changed the eval suite, which nobody who is graded by it may"
	}
	if entry, there := after.Find("SKILL.md"); !there || !entry.IsFile() {
		return nil, "it has no SKILL.md any more"
	}
	return after, ""
}

// notExchanged is an error when something else than a directory is in the place of
// the candidate: a link would lead what is done to it elsewhere.
func notExchanged(candidate string) error {
	if info, err := os.Lstat(candidate); err == nil && !info.IsDir() {
		return errors.New("its directory was exchanged")
	}
	return nil
}

// propose lets the improver work on the candidate.
func (s *state) propose(ctx context.Context, n int, tree workspace.Tree) (agent.Reply, error) {
	home, env, err := s.Home()
	if err != nil {
		return agent.Reply{}, err
	}
	allowed := func(path string) bool { return path != evals.Dir && !strings.HasPrefix(path, evals.Dir+"/") }
	var files []string
	for _, entry := range tree {
		if entry.IsFile() && allowed(entry.Path) {
			files = append(files, entry.Path)
		}
	}
	start := startOf(s.rows) // what another executor scored before it is no start
	initial := s.rows[slices.IndexFunc(s.rows, func(row results.Row) bool { return row.Iteration == start })].Score
	best, whole := evals.RateValue(s.best.Rate), metric.FromInt(1)
	text := prompt.Build(prompt.Input{
		Program: s.Name, Iteration: n, Goal: prompt.SkillGoal("Improve the skill "+s.Name+".", "."),
		Targets: []string{"**"}, Protected: []string{evals.Dir + "/"},
		Files: files, Direction: metric.Higher, Target: &whole, Best: &best, Initial: initial,
		Attempts: s.attempts(), Output: s.best.Failures,
	})
	var live func(string)
	if s.Improving != nil {
		s.Improving(n, "")
		live = func(line string) { s.Improving(n, line) }
	}
	return s.Improver.Propose(ctx, agent.Request{
		Live: live,
		Dir:  s.Workspace.Candidate(), Prompt: text, Env: env, Home: home, Timeout: s.Timeout, Model: s.Model,
		Command:  s.Command,
		IsTarget: allowed, Targets: files, Direction: metric.Higher, Incumbent: &best, Iteration: n, Seed: 1,
	})
}

// attempts are the earlier iterations as the prompt shows them.
func (s *state) attempts() []history.Attempt {
	var list []history.Attempt
	best := s.rows[0].Score
	for _, row := range s.rows[1:] {
		if row.Action == results.Baseline { // measured anew
			best = row.Score
			continue
		}
		one := history.Attempt{Decided: &history.Decided{
			Head: history.Head{Iteration: row.Iteration, Time: row.Time}, Outcome: history.Rejected, Metric: row.Score,
			PreviousBest: best, Work: history.Work{Summary: row.Changelog},
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
