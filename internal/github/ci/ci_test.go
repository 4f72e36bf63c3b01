package ci_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/github/ci"
)

const candidate = "0123456789abcdef0123456789abcdef01234567"

// row is one line of the gate's table: what CI, the rules and the branch say,
// and what follows.
type row struct {
	name       string
	base, head []ci.Check
	runs       []ci.Run
	baseRuns   []ci.Run
	rules      []ci.Required
	change     func(*ci.Input)
	want       ci.State
	because    ci.Cause // of one of the reasons; "" is any
}

func checks(list ...ci.Check) []ci.Check { return list }

// of is a check of an app.
func of(app int64, c ci.Check) ci.Check {
	c.App = app
	return c
}

// job is a check of a workflow; starts says that one starts on the change.
func job(c ci.Check) ci.Check {
	c.Workflow = true
	return c
}

func starts(in *ci.Input) { in.Starts = true }

func at(minute int, c ci.Check) ci.Check {
	c.Started = time.Date(2026, 1, 2, 3, minute, 0, 0, time.UTC)
	return c
}

func unexplained(c ci.Check) ci.Check {
	c.Unexplained = true
	return c
}

func unreadable(part func(*ci.Input) *error) func(*ci.Input) {
	return func(in *ci.Input) { *part(in) = errors.New("no answer within 30s") }
}

func required(names ...string) []ci.Required {
	var list []ci.Required
	for _, name := range names {
		list = append(list, ci.Required{Name: name})
	}
	return list
}

func table() []row {
	build, test := check("build", "success"), check("test", "success")
	return []row{
		{name: "no check at all", want: ci.Pending, because: ci.NoSuccess},
		{name: "one success, no base, no rules", head: checks(build), want: ci.Green},
		{name: "all that the base has", base: checks(build, test), head: checks(build, test), want: ci.Green},
		{
			name: "a check of the base is missing", base: checks(build, test), head: checks(build), want: ci.Pending,
			because: ci.Missing,
		},
		{
			name: "only a license check", base: checks(build, check("license/cla", "success")),
			head: checks(check("license/cla", "success")), want: ci.Pending, because: ci.Missing,
		},
		{
			name: "only a license check, CI on pull requests alone", change: starts,
			head: checks(check("license/cla", "success")), want: ci.Pending, because: ci.NoSuccess,
		},
		{
			name: "a required license check, CI on pull requests alone", change: starts, rules: required("license/cla"),
			head: checks(check("license/cla", "success")), want: ci.Pending, because: ci.NoSuccess,
		},
		{
			name: "a draft skips the build, CI on pull requests alone", change: starts,
			head: checks(job(check("build", "skipped")), check("license/cla", "success")), want: ci.Pending,
			because: ci.NoSuccess,
		},
		{
			name: "a workflow's success, CI on pull requests alone", change: starts,
			head: checks(job(build), check("license/cla", "success")), want: ci.Green,
		},
		{
			name: "what succeeded on the base is of another app, and a workflow starts too", change: starts,
			base: checks(build), head: checks(build), want: ci.Green,
		},
		{name: "more than the base has", base: checks(build), head: checks(build, test), want: ci.Green},
		{
			name: "a job that is not created yet", base: checks(build), head: checks(build),
			runs: []ci.Run{{Name: "CI", Status: "in_progress"}}, want: ci.Pending, because: ci.Running,
		},
		{
			name: "a workflow that is queued", head: checks(build), runs: []ci.Run{{Name: "CI", Status: "queued"}},
			want: ci.Pending, because: ci.Running,
		},
		{
			name: "a workflow that waits for a deployment's approval", head: checks(build),
			runs: []ci.Run{{Name: "CI", Status: "waiting"}}, want: ci.Pending, because: ci.Running,
		},
		{
			name: "a workflow that waits for approval of its author", head: checks(build),
			runs: []ci.Run{{Name: "CI", Status: "completed", Conclusion: "action_required"}}, want: ci.Pending,
			because: ci.Undecided,
		},
		{
			name: "workflows that have ended", head: checks(build),
			runs: []ci.Run{{Name: "CI", Status: "completed", Conclusion: "success"}}, want: ci.Green,
		},
		{
			name: "a workflow that did not start", head: checks(build),
			runs: []ci.Run{{Name: "CI", Status: "completed", Conclusion: "startup_failure"}}, want: ci.Red,
			because: ci.Failed,
		},
		{
			name: "a workflow that does not start on the base either", head: checks(build),
			runs:     []ci.Run{{Name: "CI", Status: "completed", Conclusion: "startup_failure"}},
			baseRuns: []ci.Run{{Name: "CI", Status: "completed", Conclusion: "startup_failure"}}, want: ci.Green,
			because: ci.FailsOnBase,
		},
		{name: "only skipped", head: checks(check("build", "skipped")), want: ci.Pending, because: ci.NoSuccess},
		{name: "only neutral", head: checks(check("build", "neutral")), want: ci.Pending, because: ci.NoSuccess},
		{
			name: "skipped here, a success on the base", base: checks(build), head: checks(check("build", "skipped")),
			want: ci.Pending, because: ci.Unproven,
		},
		{
			name: "a draft skips the build, and a license check passes", base: checks(build),
			head: checks(check("build", "skipped"), check("license/cla", "success")), want: ci.Pending,
			because: ci.Unproven,
		},
		{
			name: "neutral here, a success on the base", base: checks(build, test),
			head: checks(build, check("test", "neutral")), want: ci.Pending, because: ci.Unproven,
		},
		{
			name: "skipped here and on the base", base: checks(build, check("deploy", "skipped")),
			head: checks(build, check("deploy", "skipped")), want: ci.Green,
		},
		{
			name: "a new check that is skipped", base: checks(build), head: checks(build, check("deploy", "skipped")),
			want: ci.Green,
		},
		{name: "a check is running", head: checks(build, check("test", "")), want: ci.Pending, because: ci.Running},
		{
			name: "a check is queued, with a conclusion",
			head: checks(build, ci.Check{Name: "test", Status: "queued", Conclusion: "success"}), want: ci.Pending,
			because: ci.Running,
		},
		{
			name: "a failure", base: checks(build, test), head: checks(build, check("test", "failure")), want: ci.Red,
			because: ci.Failed,
		},
		{name: "timed out", head: checks(check("build", "timed_out")), want: ci.Red, because: ci.Failed},
		{
			name: "a failure while another runs", head: checks(check("build", ""), check("test", "failure")),
			want: ci.Pending, because: ci.Running,
		},
		{
			name: "a failure stops the rest of the matrix",
			head: checks(check("build", "cancelled"), check("test", "failure")), want: ci.Red, because: ci.Failed,
		},
		{
			name: "a failure, and a job after it is missing", base: checks(build, test),
			head: checks(check("build", "failure")), want: ci.Red, because: ci.Failed,
		},
		{
			name: "fails in the same way as on the base", base: checks(build, check("test", "failure", "error: a")),
			head: checks(build, check("test", "failure", "error: a")), want: ci.Green, because: ci.FailsOnBase,
		},
		{
			name: "fails in another way than on the base", base: checks(build, check("test", "failure", "error: a")),
			head: checks(build, check("test", "failure", "error: b")), want: ci.Red, because: ci.Failed,
		},
		{
			name: "fails as on the base, at another line",
			base: checks(build, check("test", "failure", "x.go:1: error: a")),
			head: checks(build, check("test", "failure", "x.go:7: error: a")), want: ci.Green,
		},
		{
			name: "how it fails could not be read", base: checks(build, check("test", "failure", "error: a")),
			head: checks(build, unexplained(check("test", "failure"))), want: ci.Pending, because: ci.Unread,
		},
		{
			name: "how the base fails could not be read", base: checks(build, unexplained(check("test", "failure"))),
			head: checks(build, check("test", "failure", "error: a")), want: ci.Pending, because: ci.Unread,
		},
		{
			name: "fails on the base too, and neither says how", base: checks(build, check("test", "failure")),
			head: checks(build, check("test", "failure")), want: ci.Red, because: ci.Failed,
		},
		{
			name: "fails on the base too, and both say what runners always say",
			base: checks(build, check("test", "failure", "Process completed with exit code 1.")),
			head: checks(build, check("test", "failure", "Process completed with exit code 1.")), want: ci.Red,
			because: ci.Failed,
		},
		{
			name: "only what the base fails", base: checks(check("test", "failure", "error: a")),
			head: checks(check("test", "failure", "error: a")), want: ci.Pending, because: ci.NoSuccess,
		},
		{
			name: "the base did not end", base: checks(check("test", "")), head: checks(check("test", "failure")),
			want: ci.Red, because: ci.Failed,
		},
		{
			name: "missing here, still running on the base", base: checks(build, check("test", "")),
			head: checks(build),
			want: ci.Pending, because: ci.Missing,
		},
		{
			name: "missing here, waits for approval on the base",
			base: checks(build, ci.Check{Name: "deploy", Status: "waiting"}), head: checks(build), want: ci.Green,
		},
		{name: "cancelled", head: checks(build, check("test", "cancelled")), want: ci.Pending, because: ci.Undecided},
		{
			name: "cancelled, then started again", head: checks(at(1, check("test", "cancelled")), at(2, test)),
			want: ci.Green,
		},
		{
			name: "a success, then started again and cancelled",
			head: checks(at(1, test), at(2, check("test", "cancelled"))), want: ci.Pending, because: ci.Undecided,
		},
		{
			name: "waits for a person", head: checks(build, check("test", "action_required")), want: ci.Pending,
			because: ci.Undecided,
		},
		{name: "grew stale", head: checks(build, check("test", "stale")), want: ci.Pending, because: ci.Undecided},
		{
			name: "a conclusion that is not known here", head: checks(build, check("test", "splendid")),
			want:    ci.Pending,
			because: ci.Undecided,
		},
		{
			name: "completed without a conclusion", head: checks(ci.Check{Name: "test", Status: "completed"}),
			want: ci.Pending, because: ci.Undecided,
		},
		{
			name: "required by a rule, and missing", rules: required("deploy"), head: checks(build), want: ci.Pending,
			because: ci.Missing,
		},
		{name: "required by a rule, and there", rules: required("build"), head: checks(build), want: ci.Green},
		{
			name: "required by a rule, and skipped beside another success", rules: required("build"),
			head: checks(check("build", "skipped"), test), want: ci.Pending, because: ci.NoSuccess,
		},
		{
			name: "one required success, one required and skipped", rules: required("build", "test"),
			head: checks(build, check("test", "skipped")), want: ci.Green,
		},
		{
			name: "required, and fails as on the base", rules: required("test"),
			base: checks(build, check("test", "failure", "error: a")),
			head: checks(build, check("test", "failure", "error: a")), want: ci.Pending, because: ci.Unproven,
		},
		{
			name: "required of an app, reported by another", rules: []ci.Required{{Name: "build", App: 7}},
			head: checks(of(8, build)), want: ci.Pending, because: ci.Missing,
		},
		{
			name: "required of an app, reported by it", rules: []ci.Required{{Name: "build", App: 7}},
			head: checks(of(7, build)), want: ci.Green,
		},
		{
			name: "a status has the name of the base's check run", base: checks(of(7, build)), head: checks(build),
			want: ci.Pending, because: ci.Missing,
		},
		{
			name: "one of two with the same name fails", head: checks(build, check("build", "failure")), want: ci.Red,
			because: ci.Failed,
		},
		{
			name: "the branch was pushed to", head: checks(build),
			change: func(in *ci.Input) { in.Branch.Commit = "fedcba" }, want: ci.Moved, because: ci.BranchMoved,
		},
		{
			name: "the branch was pushed to while CI is red", head: checks(check("build", "failure")),
			change: func(in *ci.Input) { in.Branch.Commit = "fedcba" }, want: ci.Moved, because: ci.BranchMoved,
		},
		{
			name: "the branch is gone", head: checks(build), change: func(in *ci.Input) { in.Branch.Commit = "" },
			want: ci.Moved, because: ci.BranchMoved,
		},
		{
			name: "the branch cannot be read", head: checks(build),
			change: unreadable(func(in *ci.Input) *error { return &in.Branch.Err }), want: ci.Pending,
			because: ci.Unread,
		},
		{
			name: "the checks cannot be read", head: checks(build),
			change: unreadable(func(in *ci.Input) *error { return &in.Head.Err }), want: ci.Pending,
			because: ci.Unread,
		},
		{
			name: "the base cannot be read", head: checks(build),
			change: unreadable(func(in *ci.Input) *error { return &in.Base.Err }), want: ci.Pending,
			because: ci.Unread,
		},
		{
			name: "the rules cannot be read", head: checks(build),
			change: unreadable(func(in *ci.Input) *error { return &in.Rules.Err }), want: ci.Pending,
			because: ci.Unread,
		},
		{
			name: "a failure, and the base cannot be read", head: checks(check("build", "failure")),
			change: unreadable(func(in *ci.Input) *error { return &in.Base.Err }), want: ci.Pending,
			because: ci.Unread,
		},
	}
}

func (r row) input() ci.Input {
	in := ci.Input{
		Commit: candidate, Head: ci.Reading{Checks: r.head, Runs: r.runs},
		Base:  ci.Reading{Checks: r.base, Runs: r.baseRuns},
		Rules: ci.Rules{Required: r.rules}, Branch: ci.Position{Commit: candidate},
	}
	if r.change != nil {
		r.change(&in)
	}
	return in
}

func TestGate(t *testing.T) {
	t.Parallel()
	for _, r := range table() {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			got := ci.Judge(r.input())
			assert.Equal(t, r.want, got.State, "%v", got.Reasons)
			assert.Equal(t, r.want == ci.Red, got.State == ci.Red && len(got.Failing) > 0)
			if r.want != ci.Green {
				assert.NotEmpty(t, got.Reasons, "why")
			}
			var kinds []ci.Cause
			for _, reason := range got.Reasons {
				kinds = append(kinds, reason.Kind)
				assert.NotEmpty(t, reason.Text)
			}
			if r.because != "" {
				assert.Contains(t, kinds, r.because, "%v", got.Reasons)
			}
			assert.NotEmpty(t, got.Cure())
		})
	}
}

// TestARowThatCannotBeReadIsPending takes each reading away from every row: what
// cannot be read is never green, and never asks an agent to fix something.
func TestARowThatCannotBeReadIsPending(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, r := range table() {
		assert.False(t, names[r.name], "two rows are named %q", r.name)
		names[r.name] = true
		for part, unread := range map[string]func(*ci.Input) *error{
			"checks": func(in *ci.Input) *error { return &in.Head.Err },
			"base":   func(in *ci.Input) *error { return &in.Base.Err },
			"rules":  func(in *ci.Input) *error { return &in.Rules.Err },
			"branch": func(in *ci.Input) *error { return &in.Branch.Err },
		} {
			in := r.input()
			unreadable(unread)(&in)
			got := ci.Judge(in)
			want := ci.Pending
			if r.want == ci.Moved && part != "branch" {
				want = ci.Moved // whatever CI says
			}
			assert.Equal(t, want, got.State, "%s, and the %s cannot be read: %v", r.name, part, got.Reasons)
		}
	}
	assert.GreaterOrEqual(t, len(names), 30)
}

// TestWhatIsTakenAwayNeverOpensTheGate takes single successes away from every row
// that is closed.
func TestWhatIsTakenAwayNeverOpensTheGate(t *testing.T) {
	t.Parallel()
	for _, r := range table() {
		if r.want == ci.Green {
			continue
		}
		for i := range r.head {
			less := r
			less.head = append(append([]ci.Check{}, r.head[:i]...), r.head[i+1:]...)
			if !r.head[i].Started.IsZero() || r.head[i].Status != "completed" || r.head[i].Conclusion != "success" {
				continue // to take away a failure, or what runs, may open it
			}
			assert.NotEqual(t, ci.Green, ci.Judge(less.input()).State, "%s without %s", r.name, r.head[i].Name)
		}
	}
}
