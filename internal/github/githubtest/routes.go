package githubtest

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

func (s *Server) routes(mux *http.ServeMux) {
	const repo = "/repos/{owner}/{repo}"
	s.handle(mux, "GET", repo, func(state *State, _ *http.Request) (reply, error) {
		return reply{status: http.StatusOK, body: state.repo(state.Repository)}, nil
	})
	s.handle(mux, "GET", "/user", readMe)
	s.handle(mux, "GET", repo+"/issues", listIssues)
	s.handle(mux, "POST", repo+"/issues", s.openIssue)
	s.handle(mux, "GET", repo+"/issues/{issue_number}", readIssue)
	s.handle(mux, "PATCH", repo+"/issues/{issue_number}", s.editIssue)
	s.handle(mux, "GET", repo+"/issues/{issue_number}/comments", listComments)
	s.handle(mux, "POST", repo+"/issues/{issue_number}/comments", s.say)
	s.handle(mux, "GET", repo+"/issues/comments", listAllComments)
	s.handle(mux, "PATCH", repo+"/issues/comments/{comment_id}", s.editComment)
	s.handle(mux, "POST", repo+"/issues/comments/{comment_id}/reactions", react)
	s.handle(mux, "POST", repo+"/pulls/comments/{comment_id}/reactions", react)
	s.handle(mux, "POST", repo+"/issues/{issue_number}/labels", addLabels)
	s.handle(mux, "POST", repo+"/issues/{issue_number}/assignees", assign)
	s.handle(mux, "POST", repo+"/pulls/{pull_number}/requested_reviewers", s.askReviewers)
	s.handle(mux, "DELETE", repo+"/issues/{issue_number}/labels/{name}", removeLabel)
	s.handle(mux, "GET", repo+"/labels", listLabels)
	s.handle(mux, "POST", repo+"/labels", createLabel)
	s.handle(mux, "GET", repo+"/pulls", s.listPulls)
	s.handle(mux, "POST", repo+"/pulls", s.openPull)
	s.handle(mux, "GET", repo+"/pulls/{pull_number}", s.readPull)
	s.handle(mux, "PATCH", repo+"/pulls/{pull_number}", s.editPull)
	s.handle(mux, "GET", repo+"/pulls/{pull_number}/comments", listReviewComments)
	s.handle(mux, "GET", repo+"/pulls/{pull_number}/reviews", listReviews)
	s.handle(mux, "GET", repo+"/commits", listCommits)
	s.handle(mux, "GET", repo+"/commits/{ref}/check-runs", s.listChecks)
	s.handle(mux, "GET", repo+"/commits/{ref}/check-suites", listSuites)
	s.handle(mux, "GET", repo+"/commits/{ref}/status", combinedStatus)
	s.handle(mux, "GET", repo+"/rules/branches/{branch}", branchRules)
	s.handle(mux, "GET", repo+"/check-runs/{check_run_id}/annotations", listAnnotations)
	s.handle(mux, "GET", repo+"/branches/{branch}", s.readBranch)
	s.handle(mux, "GET", repo+"/collaborators", collaborators)
	s.handle(mux, "GET", repo+"/collaborators/{username}/permission", permission)
	s.handle(mux, "POST", repo+"/actions/workflows/{workflow_id}/dispatches", dispatch)
	s.handle(mux, "GET", repo+"/actions/permissions/workflow", workflowPermissions)
	s.handle(mux, "GET", repo+"/actions/variables/{name}", variable)
	s.handle(mux, "GET", repo+"/actions/workflows", listWorkflows)
	s.handle(mux, "GET", repo+"/actions/runs", listRuns)
	s.handle(mux, "GET", repo+"/actions/runs/{run_id}", readRun)
}

func listIssues(s *State, r *http.Request) (reply, error) {
	query := r.URL.Query()
	state, wanted := cmp.Or(query.Get("state"), "open"), query.Get("labels")
	var found []object
	list := slices.Clone(s.Issues)
	if query.Get("direction") != "asc" {
		slices.Reverse(list)
	}
	for _, issue := range list {
		labelled := wanted == ""
		for _, label := range issue.Labels {
			labelled = labelled || strings.EqualFold(label, wanted)
		}
		if labelled && (state == "all" || state == openness(issue.Open)) {
			found = append(found, s.issue(issue))
		}
	}
	return listed(r, found)
}

// listed answers with a page of a list.
func listed(r *http.Request, all []object) (reply, error) {
	page, last := paged(r, all)
	return reply{http.StatusOK, orEmpty(page), last}, nil
}

// counted answers with a page of a list below a name, and how long the list is.
func counted(r *http.Request, name string, all []object) (reply, error) {
	page, last := paged(r, all)
	return reply{http.StatusOK, object{"total_count": len(all), name: orEmpty(page)}, last}, nil
}

func orEmpty(list []object) []object {
	if list == nil {
		return []object{}
	}
	return list
}

func (s *Server) openIssue(state *State, r *http.Request) (reply, error) {
	var asked struct {
		Title, Body string
		Labels      []string
	}
	if decode(r, &asked); asked.Title == "" {
		return reply{}, unprocessable("title is missing")
	}
	if state.NoIssues {
		return reply{}, errAnswer{http.StatusGone, "Issues are disabled for this repo"}
	}
	issue := state.OpenIssue(state.Me, asked.Title, asked.Body, s.Now(), asked.Labels...)
	return reply{status: http.StatusCreated, body: state.issue(issue)}, nil
}

func readIssue(s *State, r *http.Request) (reply, error) {
	asked := number(r, "issue_number")
	if there := s.Transferred[asked]; there > 0 {
		other := State{Repository: "elsewhere/moved"}
		return reply{status: http.StatusOK, body: other.issue(&Issue{Number: there, Title: s.Issue(asked).Title})}, nil
	}
	issue := s.Issue(asked)
	return reply{status: http.StatusOK, body: s.issue(issue)}, nil
}

func (s *Server) editIssue(state *State, r *http.Request) (reply, error) {
	issue := state.Issue(number(r, "issue_number"))
	var asked struct{ Title, Body, State *string }
	decode(r, &asked)
	set(&issue.Title, asked.Title)
	set(&issue.Body, asked.Body)
	if asked.State != nil {
		issue.Open = *asked.State == "open"
	}
	issue.Updated = s.Now()
	return reply{status: http.StatusOK, body: state.issue(issue)}, nil
}

func set(to, from *string) {
	if from != nil {
		*to = *from
	}
}

func listComments(s *State, r *http.Request) (reply, error) {
	return s.list(r, number(r, "issue_number"), false)
}

func listReviewComments(s *State, r *http.Request) (reply, error) {
	return s.list(r, number(r, "pull_number"), true)
}

// readMe says whose token it is, but for that of an app.
func readMe(s *State, _ *http.Request) (reply, error) {
	if strings.HasSuffix(s.Me, "[bot]") {
		return reply{}, errForbids
	}
	return reply{status: http.StatusOK, body: user(s.Me).with(object{"user_view_type": "public"})}, nil
}

// listReviews lists the reviews of a pull request: those with a text, and one for each comment
// on lines.
func listReviews(s *State, r *http.Request) (reply, error) {
	pull := number(r, "pull_number")
	var found []object
	for _, comment := range s.Comments {
		if comment.On == pull && (comment.Review || comment.Path != "") {
			found = append(found, s.review(comment))
		}
	}
	return listed(r, found)
}

func listAllComments(s *State, r *http.Request) (reply, error) { return s.list(r, 0, false) }

// list lists the comments on an issue or pull request; 0 is all of them.
func (s *State) list(r *http.Request, on int, review bool) (reply, error) {
	since, _ := time.Parse(time.RFC3339, r.URL.Query().Get("since"))
	var found []object
	for _, comment := range s.Comments {
		if on != 0 && comment.On != on {
			continue
		}
		if comment.Updated.Truncate(time.Second).Before(since) || (comment.Path != "") != review || comment.Review {
			continue
		}
		if review {
			found = append(found, s.reviewComment(comment))
		} else {
			found = append(found, s.comment(comment))
		}
	}
	return listed(r, found)
}

func (s *Server) say(state *State, r *http.Request) (reply, error) {
	var asked struct{ Body string }
	if decode(r, &asked); asked.Body == "" || len(asked.Body) > 65536 {
		return reply{}, unprocessable("body is missing or too long")
	}
	comment := state.Say(state.Me, number(r, "issue_number"), asked.Body, s.Now())
	return reply{status: http.StatusCreated, body: state.comment(comment)}, nil
}

func (s *Server) editComment(state *State, r *http.Request) (reply, error) {
	comment := state.found(r)
	if comment == nil {
		return reply{}, errNotFound
	}
	if comment.Author != state.Me {
		return reply{}, errForbids
	}
	var asked struct{ Body string }
	if decode(r, &asked); asked.Body == "" || len(asked.Body) > 65536 {
		return reply{}, unprocessable("body is missing or too long")
	}
	comment.Body, comment.Updated = asked.Body, s.Now()
	return reply{status: http.StatusOK, body: state.comment(comment)}, nil
}

func (s *State) found(r *http.Request) *Comment {
	id := int64(number(r, "comment_id"))
	return find(s.Comments, func(c *Comment) bool { return c.ID == id })
}

func react(s *State, r *http.Request) (reply, error) {
	comment := s.found(r)
	if comment == nil {
		return reply{}, errNotFound
	}
	var asked struct{ Content string }
	decode(r, &asked)
	status, given := http.StatusCreated, Reaction{comment.ID, asked.Content}
	if slices.Contains(s.Reactions, given) {
		status = http.StatusOK
	} else {
		s.Reactions = append(s.Reactions, given)
	}
	body := object{
		"id": comment.ID, "user": user(s.Me), "content": asked.Content,
	}
	return reply{status: status, body: body}, nil
}

func addLabels(s *State, r *http.Request) (reply, error) {
	issue := s.Issue(number(r, "issue_number"))
	var asked struct{ Labels []string }
	decode(r, &asked)
	for _, name := range asked.Labels {
		if !slices.Contains(issue.Labels, name) {
			issue.Labels = append(issue.Labels, name)
		}
	}
	return reply{status: http.StatusOK, body: s.labels(issue.Labels)}, nil
}

func removeLabel(s *State, r *http.Request) (reply, error) {
	issue := s.Issue(number(r, "issue_number"))
	if !slices.Contains(issue.Labels, r.PathValue("name")) {
		return reply{}, errNotFound
	}
	issue.Labels = slices.DeleteFunc(issue.Labels, func(label string) bool { return label == r.PathValue("name") })
	return reply{status: http.StatusOK, body: s.labels(issue.Labels)}, nil
}

func (s *Server) listChecks(state *State, r *http.Request) (reply, error) {
	ref := r.PathValue("ref")
	if !slices.ContainsFunc(state.Checks, func(c *Check) bool { return c.Commit == ref }) && s.CI != nil {
		if conclusion := s.CI(ref); conclusion != "" {
			if conclusion == "running" {
				conclusion = ""
			}
			state.Report(ref, "build", conclusion, "error: "+conclusion, s.Now())
		}
	}
	var found []object
	for _, check := range state.Checks {
		if check.Commit == ref && !check.Status {
			found = append(found, state.checkRun(check))
		}
	}
	return counted(r, "check_runs", found)
}

// listCommits lists the commits that changed a path, the latest first.
func listCommits(s *State, r *http.Request) (reply, error) {
	authors := slices.Clone(s.Authors[r.URL.Query().Get("path")])
	slices.Reverse(authors)
	found := []object{}
	for i, login := range authors {
		commit := s.commit(fmt.Sprintf("%040d", len(authors)-i))
		if login != "" {
			commit["author"] = user(login)
		}
		found = append(found, commit)
	}
	return listed(r, found)
}

func combinedStatus(s *State, r *http.Request) (reply, error) {
	var found []object
	overall := "pending"
	for _, check := range s.Checks {
		if check.Commit == r.PathValue("ref") && check.Status {
			found = append(found, s.status(check))
			overall = check.Conclusion
		}
	}
	page, last := paged(r, found)
	body := object{
		"state": overall, "sha": r.PathValue("ref"), "total_count": len(found), "statuses": orEmpty(page),
	}
	return reply{http.StatusOK, body, last}, nil
}

func listAnnotations(s *State, r *http.Request) (reply, error) {
	id, _ := strconv.ParseInt(r.PathValue("check_run_id"), 10, 64)
	check := find(s.Checks, func(c *Check) bool { return c.ID == id })
	if check == nil {
		return reply{}, errNotFound
	}
	var found []object
	for i, message := range check.Annotations {
		found = append(found, object{"path": fmt.Sprintf("file%d.go", i), "message": message})
	}
	return listed(r, found)
}

func (s *Server) readBranch(state *State, r *http.Request) (reply, error) {
	sha := s.branch(r.PathValue("branch"))
	if sha == "" {
		return reply{}, errNotFound
	}
	return reply{status: http.StatusOK, body: state.branchObject(r.PathValue("branch"), sha)}, nil
}

// collaborators are the people whose role or permission is known.
func collaborators(s *State, r *http.Request) (reply, error) {
	if s.NoPeople {
		return reply{}, errForbids
	}
	levels := maps.Clone(s.Permissions)
	for login := range s.Roles {
		levels[login] = s.permissionOf(login)
	}
	found := []object{}
	for _, login := range slices.Sorted(maps.Keys(levels)) {
		if levels[login] == "none" || s.Permissions[login] == "" && levels[login] == "read" {
			continue
		}
		person := user(login)
		person["role_name"] = levels[login]
		person["permissions"] = object{
			"pull": true, "triage": levels[login] != "read", "push": levels[login] != "read",
			"maintain": levels[login] == "admin", "admin": levels[login] == "admin",
		}
		found = append(found, person)
	}
	return listed(r, found)
}

// permissionOf is what somebody may do here: what is given, else what their role
// has as a rule. Everybody may read.
func (s *State) permissionOf(login string) string {
	level := "read"
	switch s.Roles[login] {
	case "OWNER":
		level = "admin"
	case "MEMBER", "COLLABORATOR":
		level = "write"
	}
	return cmp.Or(s.Permissions[login], level)
}

func permission(s *State, r *http.Request) (reply, error) {
	if s.NoPermissions {
		return reply{}, errForbids
	}
	login := r.PathValue("username")
	level := s.permissionOf(login)
	person := user(login)
	person["role_name"] = level
	return reply{status: http.StatusOK, body: object{"permission": level, "role_name": level, "user": person}}, nil
}

func dispatch(s *State, r *http.Request) (reply, error) {
	var asked struct{ Ref string }
	decode(r, &asked)
	s.Dispatched = append(s.Dispatched, r.PathValue("workflow_id")+" "+asked.Ref)
	return reply{status: http.StatusNoContent}, nil
}

func workflowPermissions(s *State, _ *http.Request) (reply, error) {
	return reply{
		status: http.StatusOK,
		body:   object{"default_workflow_permissions": "read", "can_approve_pull_request_reviews": !s.NoPulls},
	}, nil
}

func variable(s *State, r *http.Request) (reply, error) {
	value, found := s.Variables[r.PathValue("name")]
	if !found {
		return reply{}, errNotFound
	}
	return reply{status: http.StatusOK, body: object{"name": r.PathValue("name"), "value": value}}, nil
}

func listWorkflows(s *State, r *http.Request) (reply, error) {
	var found []object
	for i, w := range s.Workflows {
		found = append(found, object{"id": i + 1, "name": w.Path, "path": w.Path, "state": w.State})
	}
	return counted(r, "workflows", found)
}
