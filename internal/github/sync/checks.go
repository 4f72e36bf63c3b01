package sync

import (
	"context"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/github/api"
	"github.com/org/autoloop/internal/github/ci"
)

// maxExplained bounds for how many failing checks the annotations are read.
const maxExplained = 20

// CI is what CI says of a candidate. What cannot be read is part of the verdict.
func (s *Service) CI(ctx context.Context, c ci.Candidate) ci.Result {
	head, failed := s.readHead(ctx, c.Commit)
	return ci.Judge(ci.Input{
		Commit: c.Commit, Head: head, Base: s.readBase(ctx, c, failed),
		Rules: s.rules(ctx, c.BaseBranch), Branch: c.Branch, Starts: c.Starts,
	})
}

// readHead reads everything that CI says of a commit, and returns the names of
// the checks that failed.
func (s *Service) readHead(ctx context.Context, commit string) (reading ci.Reading, failed map[string]bool) {
	failed = map[string]bool{}
	checks, err := s.Hub.Checks(ctx, commit)
	if err != nil {
		return ci.Reading{Err: err}, nil
	}
	runs, err := s.Hub.WorkflowRuns(ctx, commit)
	if err != nil {
		return ci.Reading{Err: err}, nil
	}
	suites, err := s.Hub.Suites(ctx, commit)
	if err != nil {
		return ci.Reading{Err: err}, nil
	}
	for _, check := range checks {
		if check.Conclusion == "failure" {
			failed[check.Name] = true
		}
	}
	explained := s.explained(ctx, checks, failed)
	for i, check := range checks { // in the same order
		explained[i].Workflow = slices.ContainsFunc(runs,
			func(run api.WorkflowRun) bool { return run.Suite == check.Suite && check.Suite != 0 })
	}
	return ci.Reading{Checks: explained, Runs: append(runsOf(runs), suitesOf(suites)...)}, failed
}

// readBase reads what CI says of the base. Only the failures that the candidate
// has too are explained.
func (s *Service) readBase(ctx context.Context, c ci.Candidate, failed map[string]bool) ci.Reading {
	checks, err := s.Hub.Checks(ctx, c.Base)
	if err != nil {
		return ci.Reading{Err: err}
	}
	runs, err := s.Hub.WorkflowRuns(ctx, c.Base)
	if err != nil {
		return ci.Reading{Err: err}
	}
	checks = slices.DeleteFunc(checks, func(check api.Check) bool { return !ofChange(check, runs, c.Elsewhere) })
	runs = slices.DeleteFunc(runs, func(run api.WorkflowRun) bool { return !startsCI(run, c.Elsewhere) })
	return ci.Reading{Checks: s.explained(ctx, checks, failed), Runs: runsOf(runs)}
}

// rules are the required checks of a branch; they are read once in a run.
func (s *Service) rules(ctx context.Context, branch string) ci.Rules {
	if s.required != nil {
		return *s.required
	}
	found, err := s.Hub.RequiredChecks(ctx, branch)
	if err != nil {
		return ci.Rules{Err: err}
	}
	s.required = &ci.Rules{Required: found}
	return *s.required
}

// explained are the checks, with what those of the names say that failed.
func (s *Service) explained(ctx context.Context, found []api.Check, failed map[string]bool) []ci.Check {
	slices.SortStableFunc(found, func(a, b api.Check) int { return strings.Compare(a.Name, b.Name) })
	checks := make([]ci.Check, len(found))
	asked := 0
	for i, check := range found {
		checks[i] = check.Check
		if check.Conclusion != "failure" || !failed[check.Name] {
			continue
		}
		if check.ID > 0 {
			var err error
			asked++
			if checks[i].Unexplained = asked > maxExplained; !checks[i].Unexplained {
				checks[i].Lines, err = s.Hub.Annotations(ctx, check.ID)
				checks[i].Unexplained = err != nil
			}
		}
		checks[i].Lines = append(checks[i].Lines, strings.Split(check.Summary, "\n")...)
	}
	return checks
}

func runsOf(found []api.WorkflowRun) []ci.Run {
	runs := make([]ci.Run, len(found))
	for i, run := range found {
		runs[i] = run.Run
	}
	return runs
}

// suitesOf are the check suites that count. GitHub makes one for every app that
// may write checks, and those of apps that never report stay queued for ever:
// without a check run a suite says nothing. The workflows of GitHub Actions are
// read as runs.
func suitesOf(found []api.CheckSuite) []ci.Run {
	var runs []ci.Run
	for _, suite := range found {
		if suite.App.Slug != "github-actions" && suite.Checks > 0 {
			runs = append(runs, ci.Run{Name: suite.App.Slug, Status: suite.Status, Conclusion: suite.Conclusion})
		}
	}
	return runs
}

// HasCI reports whether CI runs at all: on a commit, on the open pull request, which some
// CI looks at alone, or by the rules of the branch that it is for.
func (s *Service) HasCI(ctx context.Context, commit, into string, elsewhere []string) (bool, error) {
	if found, err := s.isChecked(ctx, commit, elsewhere); found || err != nil {
		return found, err
	}
	if s.seen != nil && s.seen.pull != nil && s.seen.pull.Open {
		if found, err := s.isChecked(ctx, s.seen.pull.HeadSHA, elsewhere); found || err != nil {
			return found, err
		}
	}
	rules := s.rules(ctx, into)
	return len(rules.Required) > 0, rules.Err
}

// isChecked reports whether CI runs on a commit. Workflows that only look at
// the clock, at issues and at other workflows, as Autoloop's own do, and those that run
// elsewhere, leave check runs on the default branch too, and are no CI; where it cannot be
// read what started a run, each counts.
func (s *Service) isChecked(ctx context.Context, commit string, elsewhere []string) (bool, error) {
	found, err := s.Hub.Checks(ctx, commit)
	if err != nil || len(found) == 0 {
		return false, err
	}
	runs, err := s.Hub.WorkflowRuns(ctx, commit)
	if err != nil {
		return true, nil //nolint:nilerr // then each counts
	}
	return slices.ContainsFunc(found, func(check api.Check) bool { return ofChange(check, runs, elsewhere) }), nil
}

// ofChange reports whether a check is about what was pushed, as far as is known.
func ofChange(check api.Check, runs []api.WorkflowRun, elsewhere []string) bool {
	at := slices.IndexFunc(runs, func(run api.WorkflowRun) bool { return run.Suite == check.Suite })
	return at < 0 || startsCI(runs[at], elsewhere)
}

// pages is GitHub's own workflow that publishes what is on one branch.
const pages = "pages build and deployment"

// startsCI says whether such a run starts for what was pushed, but for the workflows
// that run elsewhere.
func startsCI(run api.WorkflowRun, elsewhere []string) bool {
	switch run.Event {
	case "push", "pull_request", "pull_request_target", "merge_group", "dynamic":
		return run.Name != pages && !slices.Contains(elsewhere, run.Name)
	default:
		return false
	}
}

// Dispatch starts a workflow on a branch.
func (s *Service) Dispatch(ctx context.Context, workflow, branch string) error {
	return s.Hub.Dispatch(ctx, workflow, branch)
}
