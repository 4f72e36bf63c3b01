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
	if s.NoRuns {
		return reply{}, errForbids
	}
	commit := r.URL.Query().Get("head_sha")
	list := []object{}
	for _, c := range s.Checks {
		if c.Commit == commit && !c.Status && c.app() == actionsApp {
			list = append(list, s.run(c.ID, c.status(), cmp.Or(c.Event, "push"), commit,
				c.suite()).with(object{"name": orNull(c.Workflow)}))
		}
	}
	for i, begun := range s.Begun {
		if begun.Commit != commit {
			continue
		}
		run := s.run(int64(i+1), cmp.Or(begun.Status, completed), cmp.Or(begun.Event, "push"), commit,
			int64(2_000_000+i))
		run["name"], run["conclusion"] = begun.Name, orNull(begun.Conclusion)
		list = append(list, run)
	}
	page, last := paged(r, list)
	return reply{http.StatusOK, object{"total_count": len(list), "workflow_runs": orEmpty(page)}, last}, nil
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
	for i, suite := range s.Suites {
		if suite.Commit == commit {
			list = append(list, s.suite(int64(3_000_000+i), appNamed(int64(100+i), suite.App), suite.Status,
				suite.Conclusion, commit, suite.Checks))
		}
	}
	page, last := paged(r, list)
	return reply{http.StatusOK, object{"total_count": len(list), "check_suites": orEmpty(page)}, last}, nil
}

func (s *State) suite(id int64, app object, status, conclusion, commit string, checks int) object {
	who := object{"name": "A", "email": "a@example.com"}
	return object{
		"id": id, "node_id": "CS", "head_branch": s.DefaultBranch, "head_sha": commit, "status": status,
		"conclusion": orNull(conclusion), "url": site,
		"before": nil, "after": nil, "pull_requests": []object{}, "app": app, "repository": s.repo(s.Repository),
		"created_at": "2026-01-01T00:00:00Z",
		"updated_at": "2026-01-01T00:00:00Z", "latest_check_runs_count": checks, "check_runs_url": site,
		"head_commit": object{
			"id": commit, "tree_id": commit, "message": "m", "timestamp": "2026-01-01T00:00:00Z",
			"author": who, "committer": who,
		},
	}
}

// branchRules lists the rules of a branch: of those that can be, the required
// checks, beside one that is nothing to us.
func branchRules(s *State, r *http.Request) (reply, error) {
	if s.NoRulesets {
		return reply{}, errAnswer{
			http.StatusForbidden,
			"Upgrade to GitHub Pro or make this repository public to enable this feature.",
		}
	}
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
	page, last := paged(r, rules)
	return reply{http.StatusOK, orEmpty(page), last}, nil
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
	body := object{
		"id": id, "node_id": "WFR", "head_branch": s.DefaultBranch, "head_sha": commit, "run_number": id,
		"run_attempt": 1, "display_title": "Autoloop",
		"event": event, "status": status, "conclusion": conclusion, "path": ".github/workflows/autoloop.yml",
		"workflow_id": 1, "check_suite_id": suite,
		"created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z", "head_commit": nil,
		"pull_requests":   []any{},
		"head_repository": s.repo(s.Repository), "repository": s.repo(s.Repository),
	}
	body.addresses(site, "url html_url jobs_url logs_url check_suite_url cancel_url rerun_url artifacts_url "+
		"workflow_url")
	return body
}
