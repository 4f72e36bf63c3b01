package publish

import (
	"context"
	"strings"

	"github.com/org/autoloop/internal/ci"
	"github.com/org/autoloop/internal/github"
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

// annotations are a help, so that they cannot be read stops nothing.
func (s *Service) annotations(ctx context.Context, check github.Check) []string {
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
