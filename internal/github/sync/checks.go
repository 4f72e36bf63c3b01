package sync

import (
	"context"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/github/api"
	"github.com/org/autoloop/internal/github/ci"
)

// maxExplained bounds for how many failing checks the annotations are read.
const maxExplained = 5

// Checks are what CI says of a commit; those that fail say why.
func (s *Service) Checks(ctx context.Context, commit string) ([]ci.Check, error) {
	found, err := s.Hub.Checks(ctx, commit)
	if err != nil {
		return nil, err
	}
	checks := make([]ci.Check, len(found))
	explained := 0
	for i, check := range found {
		checks[i] = ci.Check{Name: check.Name, Status: check.Status, Conclusion: check.Conclusion}
		if check.Conclusion != "failure" {
			continue
		}
		if explained++; check.ID > 0 && explained <= maxExplained {
			checks[i].Lines = s.annotations(ctx, check)
		}
		checks[i].Lines = append(checks[i].Lines, strings.Split(check.Summary, "\n")...)
	}
	return checks, nil
}

// Checked says whether CI runs on a commit at all. Workflows that only look at
// the clock, at issues and at other workflows, as Autoloop's own do, leave check
// runs on the default branch too, and are no CI; where it cannot be read what
// started a run, each counts.
func (s *Service) Checked(ctx context.Context, commit string) (bool, error) {
	found, err := s.Hub.Checks(ctx, commit)
	if err != nil || len(found) == 0 {
		return false, err
	}
	starters, err := s.Hub.Starters(ctx, commit)
	if err != nil {
		return true, nil //nolint:nilerr // then each counts
	}
	return slices.ContainsFunc(found, func(check api.Check) bool {
		starter, known := starters[check.Suite]
		return !known || startsCI(starter)
	}), nil
}

// startsCI says whether an event starts workflows for what was pushed.
func startsCI(event string) bool {
	switch event {
	case "push", "pull_request", "pull_request_target", "merge_group", "dynamic":
		return true
	default:
		return false
	}
}

// annotations are a help, so that they cannot be read stops nothing.
func (s *Service) annotations(ctx context.Context, check api.Check) []string {
	lines, err := s.Hub.Annotations(ctx, check.ID)
	if err != nil {
		return nil
	}
	return lines
}

// Dispatch starts a workflow on a branch.
func (s *Service) Dispatch(ctx context.Context, workflow, branch string) error {
	return s.Hub.Dispatch(ctx, workflow, branch)
}
