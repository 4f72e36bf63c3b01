package sync

import (
	"cmp"
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
	in := ci.Input{Rules: s.rules(ctx, c.BaseBranch), Starts: c.Starts}
	checks, runs, err := s.report(ctx, c.Commit)
	suites, unread := s.Suites(ctx, c.Commit)
	failed := map[string]bool{} // the names of the checks that fail
	for _, check := range checks {
		failed[check.Name] = failed[check.Name] || check.Conclusion == "failure"
	}
	in.Head = s.reading(ctx, checks, runs, failed)
	in.Head.Err = cmp.Or(err, unread)
	for _, suite := range suites {
		// GitHub makes a suite for every app that may write checks, and those of apps that never
		// report stay queued for ever: without a check run a suite says nothing. The workflows of
		// GitHub Actions are read as runs.
		if suite.App.Slug != "github-actions" && suite.Checks > 0 {
			suite.Name = suite.App.Slug
			in.Head.Runs = append(in.Head.Runs, suite.Run)
		}
	}
	checks, runs, err = s.report(ctx, c.Base)
	checks = slices.DeleteFunc(checks, func(check api.Check) bool { return !ofChange(check, runs, c.Elsewhere) })
	runs = slices.DeleteFunc(runs, func(run api.WorkflowRun) bool { return !startsCI(run, c.Elsewhere) })
	in.Base = s.reading(ctx, checks, runs, failed) // of failures, those are explained that the candidate has too
	in.Base.Err = err
	return ci.Judge(in)
}

// report reads the checks of a commit, and the workflows that ran on it.
func (s *Service) report(ctx context.Context, commit string) ([]api.Check, []api.WorkflowRun, error) {
	checks, err := s.Checks(ctx, commit)
	if err != nil {
		return nil, nil, err
	}
	runs, err := s.WorkflowRuns(ctx, commit)
	return checks, runs, err
}

// rules are the required checks of a branch; they are read once in a run.
func (s *Service) rules(ctx context.Context, branch string) ci.Rules {
	if s.required != nil {
		return *s.required
	}
	found, err := s.RequiredChecks(ctx, branch)
	if err != nil {
		return ci.Rules{Err: err}
	}
	s.required = &ci.Rules{Required: found}
	return *s.required
}

// reading is what was read, with what the checks say that failed under these names.
func (s *Service) reading(ctx context.Context, found []api.Check, runs []api.WorkflowRun,
	failed map[string]bool,
) (reading ci.Reading) {
	slices.SortStableFunc(found, func(a, b api.Check) int { return strings.Compare(a.Name, b.Name) })
	asked := 0
	for _, check := range found {
		check.Workflow = check.Suite != 0 && runOf(check, runs) >= 0
		if check.Conclusion == "failure" && failed[check.Name] {
			if check.ID > 0 {
				var err error
				asked++
				if check.Unexplained = asked > maxExplained; !check.Unexplained {
					check.Lines, err = s.Annotations(ctx, check.ID)
					check.Unexplained = err != nil
				}
			}
			check.Lines = append(check.Lines, strings.Split(check.Summary, "\n")...)
		}
		reading.Checks = append(reading.Checks, check.Check)
	}
	for _, run := range runs {
		reading.Runs = append(reading.Runs, run.Run)
	}
	return reading
}

// runOf is the place of the workflow's run that a check belongs to, -1 for none.
func runOf(check api.Check, runs []api.WorkflowRun) int {
	return slices.IndexFunc(runs, func(run api.WorkflowRun) bool { return run.Suite == check.Suite })
}

// HasCI reports whether CI runs at all: on the base of a candidate, on the open pull request, which some
// CI looks at alone, or by the rules of the branch that it is for.
func (s *Service) HasCI(ctx context.Context, c ci.Candidate) (bool, error) {
	commits := []string{c.Base}
	if s.seen.pull != nil && s.seen.pull.Open() {
		commits = append(commits, s.seen.pull.Head.SHA)
	}
	for _, commit := range commits {
		if found, err := s.isChecked(ctx, commit, c.Elsewhere); found || err != nil {
			return found, err
		}
	}
	rules := s.rules(ctx, c.BaseBranch)
	return len(rules.Required) > 0, rules.Err
}

// isChecked reports whether CI runs on a commit. Workflows that only look at
// the clock, at issues and at other workflows, as Autoloop's own do, and those that run
// elsewhere, leave check runs on the default branch too, and are no CI; where it cannot be
// read what started a run, each counts.
func (s *Service) isChecked(ctx context.Context, commit string, elsewhere []string) (bool, error) {
	found, runs, err := s.report(ctx, commit)
	if len(found) > 0 && err != nil {
		return true, nil //nolint:nilerr // then each counts
	}
	return slices.ContainsFunc(found, func(check api.Check) bool { return ofChange(check, runs, elsewhere) }), err
}

// ofChange reports whether a check is about what was pushed, as far as is known.
func ofChange(check api.Check, runs []api.WorkflowRun, elsewhere []string) bool {
	at := runOf(check, runs)
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
