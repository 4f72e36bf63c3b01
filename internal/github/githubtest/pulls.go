package githubtest

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
)

func (s *Server) listPulls(state *State, r *http.Request) (reply, error) {
	query := r.URL.Query()
	wanted, head := cmp.Or(query.Get("state"), "open"), query.Get("head")
	list := slices.Clone(state.Pulls)
	if query.Get("direction") != "asc" {
		slices.Reverse(list)
	}
	var found []object
	for _, pull := range list {
		owner, _, _ := strings.Cut(pull.HeadOf, "/")
		open := state.Issue(pull.Number).Open
		if (wanted == "all" || wanted == openness(open)) && (head == "" || head == owner+":"+pull.Head) {
			found = append(found, s.pull(pull, false))
		}
	}
	return listed(r, found)
}

func (s *Server) openPull(state *State, r *http.Request) (reply, error) {
	var asked struct {
		Title, Body, Head, Base string
		Draft                   bool
	}
	decode(r, &asked)
	switch {
	case state.NoPulls:
		return reply{}, errAnswer{
			http.StatusForbidden,
			"GitHub Actions is not permitted to create or approve pull requests.",
		}
	case s.branch(asked.Head) == "":
		return reply{}, unprocessable("head is invalid")
	case s.branch(asked.Head) == s.branch(asked.Base):
		return reply{}, unprocessable("No commits between %s and %s", asked.Base, asked.Head)
	}
	for _, pull := range state.Pulls {
		if state.Issue(pull.Number).Open && pull.Head == asked.Head && pull.HeadOf == state.Repository &&
			pull.Base == asked.Base {
			return reply{}, unprocessable("A pull request already exists for %s.", asked.Head)
		}
	}
	issue := state.OpenIssue(state.Me, asked.Title, asked.Body, s.Now())
	pull := &Pull{
		Number: issue.Number, Draft: asked.Draft, Head: asked.Head, Base: asked.Base,
		HeadOf: state.Repository,
	}
	state.Pulls = append(state.Pulls, pull)
	return reply{status: http.StatusCreated, body: s.pull(pull, true)}, nil
}

func (s *Server) readPull(state *State, r *http.Request) (reply, error) {
	pull := state.Pull(number(r, "pull_number"))
	return reply{status: http.StatusOK, body: s.pull(pull, true)}, nil
}

func (s *Server) editPull(state *State, r *http.Request) (reply, error) {
	pull := state.Pull(number(r, "pull_number"))
	var asked struct{ Title, Body, State *string }
	decode(r, &asked)
	issue := state.Issue(pull.Number)
	set(&issue.Title, asked.Title)
	set(&issue.Body, asked.Body)
	if asked.State != nil && (*asked.State == "open") != issue.Open {
		s.close(state, pull, false, "")
	}
	issue.Updated = s.Now()
	return reply{status: http.StatusOK, body: s.pull(pull, true)}, nil
}

// close closes a pull request; one that is merged has a commit for it.
func (s *Server) close(state *State, pull *Pull, merged bool, commit string) {
	now := s.Now()
	pull.HeadSHA = s.headSHA(pull)
	pull.Closed, pull.Merged, pull.MergedCommit = &now, merged, commit
	issue := state.Issue(pull.Number)
	issue.Open, issue.Updated = false, now
}

// Merge marks a pull request as ready and merged by a person, with the merge in
// the git repository done by the caller. A draft cannot be merged.
func (s *Server) Merge(number int, commit string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	pull := s.state.Pull(number)
	pull.Draft = false
	s.close(s.state, pull, true, commit)
}

// Close closes a pull request as a person who does not want it.
func (s *Server) Close(number int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.close(s.state, s.state.Pull(number), false, "")
}

// Reopen opens a pull request again as a person does who closed it.
func (s *Server) Reopen(number int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	pull, issue := s.state.Pull(number), s.state.Issue(number)
	pull.Closed, issue.Open, issue.Updated = nil, true, s.Now()
}

// assign adds assignees to an issue or a pull request.
func assign(s *State, r *http.Request) (reply, error) {
	issue := s.Issue(number(r, "issue_number"))
	var asked struct{ Assignees []string }
	decode(r, &asked)
	issue.Assignees = with(issue.Assignees, asked.Assignees...)
	return reply{status: http.StatusCreated, body: s.issue(issue)}, nil
}

// askReviewers asks people and teams for a review.
func (s *Server) askReviewers(state *State, r *http.Request) (reply, error) {
	pull := state.Pull(number(r, "pull_number"))
	var asked struct {
		Reviewers []string
		Teams     []string `json:"team_reviewers"`
	}
	decode(r, &asked)
	pull.Reviewers = with(pull.Reviewers, asked.Reviewers...)
	for _, team := range asked.Teams {
		pull.Reviewers = with(pull.Reviewers, "/"+team)
	}
	return reply{status: http.StatusCreated, body: s.pull(pull, false)}, nil
}

// with adds names to a list that has each once.
func with(list []string, names ...string) []string {
	for _, name := range names {
		if !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}
