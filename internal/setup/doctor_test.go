package setup_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/github/api"
	"github.com/org/autoloop/internal/github/githubtest"
	"github.com/org/autoloop/internal/setup"
)

func examine(t *testing.T, workflow bool, fill func(*githubtest.State)) []setup.Finding {
	t.Helper()
	state := githubtest.NewState("org/repo")
	state.Branches["main"] = "m1"
	if fill != nil {
		fill(state)
	}
	server := githubtest.New(t, state)
	client, err := api.New(api.Options{
		API: server.URL, Repository: "org/repo", Token: "secret", Now: time.Now,
		Sleep: func(context.Context, time.Duration) error { return nil },
	})
	require.NoError(t, err)
	var found setup.Findings
	found.Hub(t.Context(), client, workflow)
	return found
}

// told are the findings that are not fine, as "level subject: message".
func told(findings []setup.Finding) string {
	var lines []string
	for _, f := range findings {
		if f.Level != setup.OK {
			lines = append(lines, fmt.Sprintf("%s %s: %s", f.Level, f.Subject, f.Message))
		}
	}
	return strings.Join(lines, "\n")
}

func TestAllIsWell(t *testing.T) {
	t.Parallel()
	findings := examine(t, false, func(s *githubtest.State) {
		s.Protected = []string{"main"}
		s.Report("m1", "build", "success", "", time.Now())
		s.Workflows = []githubtest.Workflow{{Path: ".github/workflows/autoloop.yml", State: "active"}}
	})
	assert.Empty(t, told(findings))
	assert.Greater(t, len(findings), 5)
}

func TestFindings(t *testing.T) {
	t.Parallel()
	for says, c := range map[string]struct {
		workflow bool
		fill     func(*githubtest.State)
	}{
		"problem pull requests: the repository": {
			true,
			func(s *githubtest.State) { s.NoPulls = true },
		},
		"warning pushes: pushes and pull requests": {true, nil},
		"warning repository: it is a fork": {
			false,
			func(s *githubtest.State) { s.Fork = true },
		},
		"warning default branch: main is not":  {false, nil},
		"warning CI: no check ran on the head": {false, nil},
		"warning CI: the head of main is red": {
			false,
			func(s *githubtest.State) { s.Report("m1", "build", "failure", "", time.Now()) },
		},
		"problem default branch: main has no commit": {
			false,
			func(s *githubtest.State) { s.Branches = nil },
		},
		"problem workflows: a.yml was switched off": {false, func(s *githubtest.State) {
			s.Workflows = []githubtest.Workflow{{Path: "a.yml", State: "disabled_inactivity"}}
		}},
	} {
		t.Run(says, func(t *testing.T) {
			t.Parallel()
			findings := examine(t, c.workflow, c.fill)
			assert.Contains(t, told(findings), says)
			for _, f := range findings {
				if f.Level == setup.Problem {
					assert.NotEmpty(t, f.Fix, f.Message)
				}
			}
		})
	}
}
