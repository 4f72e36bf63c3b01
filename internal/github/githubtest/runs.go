package githubtest

import (
	"cmp"
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

// listRuns lists the runs that made the checks of a commit.
func listRuns(s *State, r *http.Request) (reply, error) {
	commit := r.URL.Query().Get("head_sha")
	list := []object{}
	for _, c := range s.Checks {
		if c.Commit == commit && !c.Status {
			list = append(list, s.run(c.ID, "completed", cmp.Or(c.Event, "push"), commit, c.suite()))
		}
	}
	return reply{status: http.StatusOK, body: object{"total_count": len(list), "workflow_runs": list}}, nil
}

// suite is the check suite of a check: that of the workflow's run.
func (c *Check) suite() int64 { return c.ID + 1_000_000 }

func (s *State) run(id int64, status, event, commit string, suite int64) object {
	var conclusion any
	if status == "completed" {
		conclusion = "cancelled"
	}
	body := object{
		"id": id, "node_id": "WFR", "head_branch": s.DefaultBranch, "head_sha": commit, "run_number": id, "run_attempt": 1, "display_title": "Autoloop",
		"event": event, "status": status, "conclusion": conclusion, "path": ".github/workflows/autoloop.yml", "workflow_id": 1, "check_suite_id": suite,
		"created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z", "head_commit": nil, "pull_requests": []any{},
		"head_repository": s.repo(s.Repository), "repository": s.repo(s.Repository),
	}
	body.addresses(site, "url html_url jobs_url logs_url check_suite_url cancel_url rerun_url artifacts_url workflow_url")
	return body
}
