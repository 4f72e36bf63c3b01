package githubtest

import (
	"cmp"
	"maps"
	"net/http"
)

// readRun answers with a run of a workflow.
func readRun(s *State, r *http.Request) (reply, error) {
	id := int64(number(r, "run_id"))
	status, found := s.Runs[id]
	if !found {
		return reply{}, errNotFound
	}
	return reply{status: http.StatusOK, body: s.run(id, status, "schedule", "", 1)}, nil
}

// listRuns lists the runs that made the checks of a commit, and those that have
// none yet.
func listRuns(s *State, r *http.Request) (reply, error) {
	commit := r.URL.Query().Get("head_sha")
	list := []object{}
	for _, c := range s.Checks {
		if c.Commit == commit && !c.Status && c.app() == actionsApp {
			list = append(list, s.run(c.ID, c.status(), cmp.Or(c.Event, "push"), commit,
				c.suite()).with(object{"name": orNull(c.Workflow)}))
		}
	}
	return counted(r, "workflow_runs", list)
}

const completed = "completed"

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// status is the status of a check run.
func (c *Check) status() string {
	if c.Conclusion == "" {
		return "in_progress"
	}
	return completed
}

// listSuites lists the suites of other apps, and one for each check run of a
// commit.
func listSuites(s *State, r *http.Request) (reply, error) {
	commit := r.PathValue("ref")
	list := []object{}
	for _, c := range s.Checks {
		if c.Commit == commit && !c.Status {
			list = append(list, s.suite(c.suite(), app(c.app()), c.status(), c.Conclusion, commit, 1))
		}
	}
	return counted(r, "check_suites", list)
}

func (s *State) suite(id int64, app object, status, conclusion, commit string, checks int) object {
	return object{
		"id": id, "head_branch": s.DefaultBranch, "head_sha": commit, "status": status,
		"conclusion": orNull(conclusion),
		"app":        app, "latest_check_runs_count": checks,
	}
}

// branchRules lists the rules of a branch: of those that can be, the required
// checks, beside one that is nothing to us.
func branchRules(s *State, r *http.Request) (reply, error) {
	rules := []object{}
	if required := s.Rules[r.PathValue("branch")]; len(required) > 0 {
		checks := []object{}
		for _, check := range required {
			one := object{"context": check.Name}
			if check.App > 0 {
				one["integration_id"] = check.App
			}
			checks = append(checks, one)
		}
		parameters := object{"required_status_checks": checks, "strict_required_status_checks_policy": false}
		of := object{"ruleset_source_type": "Repository", "ruleset_source": s.Repository, "ruleset_id": 1}
		rules = append(rules, of.with(object{"type": "deletion"}),
			of.with(object{"type": "required_status_checks", "parameters": parameters}))
	}
	return listed(r, rules)
}

// with is an object with further keys.
func (o object) with(more object) object {
	whole := maps.Clone(o)
	maps.Copy(whole, more)
	return whole
}

// suite is the check suite of a check: that of the workflow's run.
func (c *Check) suite() int64 { return c.ID + 1_000_000 }

func (s *State) run(id int64, status, event, commit string, suite int64) object {
	var conclusion any
	if status == completed {
		conclusion = "cancelled"
	}
	return object{
		"id": id, "head_branch": s.DefaultBranch, "head_sha": commit, "run_number": id, "run_attempt": 1,
		"event":  event,
		"status": status, "conclusion": conclusion, "path": ".github/workflows/autoloop.yml", "check_suite_id": suite,
	}
}
