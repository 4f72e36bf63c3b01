package ci_test

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/github/ci"
)

// row is one line of the gate's table: what CI, the rules and the branch say,
// and what follows.
type row struct {
	name    string
	in      ci.Input
	want    string
	because string // the kind of one of the reasons; "" is any
}

// checks reads checks such as "build", "*test=failure:what_it_says@2" and "deploy#7=queued/success":
// of a workflow, with what it says, started in that minute, and of that app.
func checks(words string) (list []ci.Check) {
	for word := range strings.FieldsSeq(words) {
		c := ci.Check{Status: "completed", Conclusion: "success"}
		word, c.Workflow = strings.CutPrefix(word, "*")
		word, minute, started := strings.Cut(word, "@")
		if at, err := strconv.Atoi(minute); started && err == nil {
			c.Started = time.Date(2026, 1, 2, 3, at, 0, 0, time.UTC)
		}
		word, says, _ := strings.Cut(word, ":")
		if c.Unexplained = says == "?"; says != "" && !c.Unexplained {
			c.Lines = []string{strings.ReplaceAll(says, "_", " ")}
		}
		word, how, ends := strings.Cut(word, "=")
		status, conclusion, both := strings.Cut(how, "/")
		switch {
		case both:
			c.Status, c.Conclusion = status, conclusion
		case strings.Contains(" in_progress queued waiting ", " "+how+" "):
			c.Status, c.Conclusion = how, ""
		case ends:
			c.Conclusion = how
		}
		name, app, _ := strings.Cut(word, "#")
		c.Name = name
		c.App, _ = strconv.ParseInt(app, 10, 64)
		list = append(list, c)
	}
	return list
}

func runs(words string) (list []ci.Run) {
	for _, c := range checks(words) {
		list = append(list, ci.Run{Name: c.Name, Status: c.Status, Conclusion: c.Conclusion})
	}
	return list
}

// table has of each row its name, what is there, and what follows.
func table() (rows []row) {
	for name, line := range map[string]string{
		"no check at all":                                     " => pending no-success",
		"one success, no base, no rules":                      "head build => green",
		"all that the base has":                               "base build test, head build test => green",
		"a check of the base is missing":                      "base build test, head build => pending missing",
		"only a license check":                                "base build cla, head cla => pending missing",
		"only a license check, CI on pull requests alone":     "starts, head cla => pending no-success",
		"a required license check, CI on pull requests alone": "starts, rules cla, head cla => pending no-success",
		"a draft skips the build, CI on pull requests alone":  "starts, head *build=skipped cla => pending no-success",
		"a workflow's success, CI on pull requests alone":     "starts, head *build cla => green",
		"what succeeded on the base is of another app, and a workflow starts too": "starts, base build, head " +
			"build => green",
		"more than the base has": "base build, head build test => green",
		"a job that is not created yet": "base build, " +
			"head build, runs CI=in_progress => pending running",
		"a workflow that is queued":                         "head build, runs CI=queued => pending running",
		"a workflow that waits for a deployment's approval": "head build, runs CI=waiting => pending running",
		"a workflow that waits for approval of its author":  "head build, runs CI=action_required => pending undecided",
		"workflows that have ended":                         "head build, runs CI=success => green",
		"a workflow that did not start":                     "head build, runs CI=startup_failure => red failed",
		"a workflow that does not start on the base either": "head build, runs CI=startup_failure, baseruns " +
			"CI=startup_failure => green fails-on-base",
		"only skipped":                        "head build=skipped => pending no-success",
		"only neutral":                        "head build=neutral => pending no-success",
		"skipped here, a success on the base": "base build, head build=skipped => pending unproven",
		"a draft skips the build, and a license check passes": "base build, head build=skipped cla => pending " +
			"unproven",
		"neutral here, a success on the base":      "base build test, head build test=neutral => pending unproven",
		"skipped here and on the base":             "base build deploy=skipped, head build deploy=skipped => green",
		"a new check that is skipped":              "base build, head build deploy=skipped => green",
		"a check is running":                       "head build test=in_progress => pending running",
		"a check is queued, with a conclusion":     "head build test=queued/success => pending running",
		"a failure":                                "base build test, head build test=failure => red failed",
		"timed out":                                "head build=timed_out => red failed",
		"a failure while another runs":             "head build=in_progress test=failure => pending running",
		"a failure stops the rest of the matrix":   "head build=cancelled test=failure => red failed",
		"a failure, and a job after it is missing": "base build test, head build=failure => red failed",
		"fails in the same way as on the base": "base build test=failure:error_a, head build " +
			"test=failure:error_a => green fails-on-base",
		"fails in another way than on the base": "base build test=failure:error_a, head build " +
			"test=failure:error_b => red failed",
		"fails as on the base, at another line": "base build test=failure:x.go:1:_a, head build " +
			"test=failure:x.go:7:_a => green",
		"how it fails could not be read": "base build test=failure:error_a, head build test=failure:? " +
			"=> pending unread",
		"how the base fails could not be read": "base build test=failure:?, head build test=failure:error_a " +
			"=> pending unread",
		"fails on the base too, and neither says how": "base build test=failure, head build test=failure => red " +
			"failed",
		"fails on the base too, and both say what all runners say": "base build " +
			"test=failure:Process_completed_with_exit_code_1., " +
			"head build test=failure:Process_completed_with_exit_code_1. => red failed",
		"only what the base fails": "base test=failure:error_a, " +
			"head test=failure:error_a => pending no-success",
		"the base did not end":                         "base test=in_progress, head test=failure => red failed",
		"missing here, still running on the base":      "base build test=in_progress, head build => pending missing",
		"missing here, waits for approval on the base": "base build deploy=waiting, head build => green",
		"cancelled":                                   "head build test=cancelled => pending undecided",
		"cancelled, then started again":               "head test=cancelled@1 test@2 => green",
		"a success, then started again and cancelled": "head test@1 test=cancelled@2 => pending undecided",
		"waits for a person":                          "head build test=action_required => pending undecided",
		"grew stale":                                  "head build test=stale => pending undecided",
		"a conclusion that is not known here":         "head build test=splendid => pending undecided",
		"completed without a conclusion":              "head test=completed/ => pending undecided",
		"required by a rule, and missing":             "rules deploy, head build => pending missing",
		"required by a rule, and there":               "rules build, head build => green",
		"required by a rule, and skipped beside another success": "rules build, head build=skipped test => " +
			"pending no-success",
		"one required success, one required and skipped": "rules build test, head build test=skipped => green",
		"required, and fails as on the base": "rules test, base build test=failure:error_a, head build " +
			"test=failure:error_a => pending unproven",
		"required of an app, reported by another":       "rules build#7, head build#8 => pending missing",
		"required of an app, reported by it":            "rules build#7, head build#7 => green",
		"a status has the name of the base's check run": "base build#7, head build => pending missing",
		"one of two with the same name fails":           "head build build=failure => red failed",
	} {
		there, want, _ := strings.Cut(line, " => ")
		r := row{name: name}
		r.want, r.because, _ = strings.Cut(want, " ")
		for part := range strings.SplitSeq(there, ", ") {
			what, words, _ := strings.Cut(part, " ")
			switch what {
			case "head":
				r.in.Head.Checks = checks(words)
			case "base":
				r.in.Base.Checks = checks(words)
			case "runs":
				r.in.Head.Runs = runs(words)
			case "baseruns":
				r.in.Base.Runs = runs(words)
			case "rules":
				for _, c := range checks(words) {
					r.in.Rules.Required = append(r.in.Rules.Required, ci.Required{Name: c.Name, App: c.App})
				}
			case "starts":
				r.in.Starts = true
			case "":
			default:
				panic(what)
			}
		}
		rows = append(rows, r)
	}
	return rows
}

func TestGate(t *testing.T) {
	t.Parallel()
	for _, r := range table() {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			got := ci.Judge(r.in)
			assert.Equal(t, r.want, string(got.State), "%v", got.Reasons)
			assert.Equal(t, r.want == string(ci.Red), len(got.Failing) > 0 && got.State == ci.Red)
			assert.True(t, r.want == string(ci.Green) || len(got.Reasons) > 0, "why")
			var kinds []string
			for _, reason := range got.Reasons {
				kinds = append(kinds, reason.Term)
				assert.NotEmpty(t, reason.Words)
			}
			if r.because != "" {
				assert.Contains(t, kinds, r.because, "%v", got.Reasons)
			}
			assert.NotEmpty(t, got.Cure())
		})
	}
}

// TestUnreadableRowIsPending takes each reading away from every row: what
// cannot be read is never green, and never asks an agent to fix something.
func TestUnreadableRowIsPending(t *testing.T) {
	t.Parallel()
	for _, r := range table() {
		for part, unread := range map[string]func(*ci.Input) *error{
			"checks": func(in *ci.Input) *error { return &in.Head.Err },
			"base":   func(in *ci.Input) *error { return &in.Base.Err },
			"rules":  func(in *ci.Input) *error { return &in.Rules.Err },
		} {
			in := r.in
			*unread(&in) = errors.New("no answer within 30s")
			got := ci.Judge(in)
			said := func(reason decision.Reason) bool { return reason.Term == ci.Unread }
			assert.True(t, slices.ContainsFunc(got.Reasons, said), "%v", got.Reasons)
			assert.Equal(t, ci.Pending, got.State, "%s, and the %s cannot be read: %v", r.name, part, got.Reasons)
		}
	}
}

// TestMissingCheckNeverOpensGate takes single successes away from every row
// that is closed; to take away a failure, or what runs, may open it.
func TestMissingCheckNeverOpensGate(t *testing.T) {
	t.Parallel()
	for _, r := range table() {
		for i, c := range r.in.Head.Checks {
			success := c.Status == "completed" && c.Conclusion == "success" && c.Started.IsZero()
			if r.want == string(ci.Green) || !success {
				continue
			}
			less := r.in
			less.Head.Checks = slices.Delete(slices.Clone(r.in.Head.Checks), i, i+1)
			assert.NotEqual(t, ci.Green, ci.Judge(less).State, "%s without %s", r.name, c.Name)
		}
	}
}
