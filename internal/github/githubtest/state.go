// Package githubtest is a GitHub for tests: an HTTP server that keeps state,
// answers as GitHub's published description says, and fails on order. A
// request that it does not know fails the test.
package githubtest

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// State is all that the server remembers. It can be copied through JSON, so
// that many tests start from one moment.
type State struct {
	// Repository is owner/name.
	Repository string
	// OldName is what it was called before it was renamed; "" when it never was.
	OldName       string
	DefaultBranch string
	Fork          bool
	// NoPulls says that workflows may not open pull requests.
	NoPulls bool
	// NoIssues says that issues are disabled.
	NoIssues bool
	// NoPeople says that the token may not list who may do what here.
	NoPeople bool
	// NoPermissions says that the token may not ask what somebody may do here.
	NoPermissions bool
	// Me is the login that the token belongs to; its association is as Roles
	// says.
	Me string
	// Roles are associations by login, such as OWNER; others have NONE.
	// Permissions are admin, write, read or none by login, where that is another
	// than the role has as a rule, as when a membership is private.
	Roles, Permissions map[string]string

	Number int   // of the last issue or pull request
	ID     int64 // of the last object

	Issues    []*Issue
	Comments  []*Comment
	Pulls     []*Pull
	Checks    []*Check
	Reactions []Reaction
	// Rules and Protections are the checks that rulesets and the protection of a
	// branch require, by branch.
	Rules, Protections map[string][]RequiredCheck
	// Branches are commits by name, where no git repository knows better.
	Branches map[string]string
	// Authors are the logins behind the commits that changed a file, the oldest
	// first; "" is an e-mail address that belongs to no login.
	Authors   map[string][]string
	Protected []string
	Variables map[string]string
	// Labels are the names of the repository's labels.
	Labels    []string
	Workflows []Workflow
	// Runs are the states of runs of workflows, by their number.
	Runs map[int64]string
	// Dispatched are the workflows that were started, as "ci.yml main".
	Dispatched []string
	// Transferred are issues that went to another repository, with their numbers there.
	// What GitHub answers of them, behind a redirect, is the issue there.
	Transferred map[int]int
}

// Issue is an issue, or the issue side of a pull request.
type Issue struct {
	Number            int
	Title, Body       string
	Open              bool
	Author            string
	Labels, Assignees []string
	Created, Updated  time.Time
}

// Comment is a comment on an issue or a pull request; with a path it is one on
// lines of the changes.
type Comment struct {
	ID           int64
	On           int
	Author, Body string
	Path         string
	// Review says that it is the text of a review.
	Review           bool
	Created, Updated time.Time
}

// Pull is the pull request side of an issue.
type Pull struct {
	Number       int
	Draft        bool
	Merged       bool
	Head, Base   string
	HeadSHA      string // of the moment, when it is closed
	HeadOf       string // owner/name of the repository of the head
	Closed       *time.Time
	MergedCommit string
	// Reviewers are who was asked for a review; teams begin with a slash.
	Reviewers []string
}

// Check is a check run or, with Status set to true, a commit status.
type Check struct {
	ID                 int64
	Commit             string
	Name               string
	Status             bool
	Conclusion         string // "" while it is under way
	Summary            string
	Annotations        []string
	Started, Completed time.Time
	// Event started the workflow whose check it is; "" is a push. Workflow is its name.
	Event, Workflow string
	// App reports a check run; 0 is GitHub Actions.
	App int64
}

// RequiredCheck is one that a rule requires; App is the one that has to report
// it, 0 is any.
type RequiredCheck struct {
	Name string
	App  int64
}

// Reaction is one that was given.
type Reaction struct {
	Comment int64
	Content string
}

// Workflow is a workflow of GitHub Actions.
type Workflow struct{ Path, State string }

// NewState is a repository with nothing in it.
func NewState(repository string) *State {
	return &State{
		Repository: repository, DefaultBranch: "main", Me: "autoloop[bot]", Number: 0, ID: 1000,
		Roles: map[string]string{}, Permissions: map[string]string{}, Branches: map[string]string{},
		Variables: map[string]string{},
	}
}

// Copy is a copy that shares nothing.
func (s *State) Copy() *State {
	text, err := json.Marshal(s)
	if err != nil {
		panic(fmt.Sprintf("copy the state: %v", err))
	}
	var copied State
	if err := json.Unmarshal(text, &copied); err != nil {
		panic(fmt.Sprintf("copy the state: %v", err))
	}
	return &copied
}

// Issue returns an issue by its number, or nil.
func (s *State) Issue(number int) *Issue {
	return find(s.Issues, func(i *Issue) bool { return i.Number == number })
}

// Pull returns a pull request by its number, or nil.
func (s *State) Pull(number int) *Pull {
	return find(s.Pulls, func(p *Pull) bool { return p.Number == number })
}

// On lists the comments on an issue or pull request, the oldest first.
func (s *State) On(number int) []*Comment {
	var found []*Comment
	for _, comment := range s.Comments {
		if comment.On == number {
			found = append(found, comment)
		}
	}
	return found
}

// OpenIssue adds an issue.
func (s *State) OpenIssue(author, title, body string, now time.Time, labels ...string) *Issue {
	s.Number++
	issue := &Issue{
		Number: s.Number, Title: title, Body: body, Open: true, Author: author, Labels: labels,
		Created: now, Updated: now,
	}
	s.Issues = append(s.Issues, issue)
	return issue
}

// Say adds a comment.
func (s *State) Say(author string, on int, body string, now time.Time) *Comment {
	s.ID++
	comment := &Comment{ID: s.ID, On: on, Author: author, Body: body, Created: now, Updated: now}
	s.Comments = append(s.Comments, comment)
	return comment
}

// Report adds what CI says of a commit; a check run of that name is replaced.
func (s *State) Report(commit, name, conclusion, summary string, now time.Time) *Check {
	s.Checks = slices.DeleteFunc(s.Checks,
		func(c *Check) bool { return c.Commit == commit && c.Name == name && !c.Status })
	s.ID++
	check := &Check{
		ID: s.ID, Commit: commit, Name: name, Conclusion: conclusion, Summary: summary, Started: now,
		Completed: now,
	}
	s.Checks = append(s.Checks, check)
	return check
}

func (s *State) association(login string) string {
	if role := s.Roles[login]; role != "" {
		return role
	}
	return "NONE"
}

func find[T any](list []*T, is func(*T) bool) *T {
	if at := slices.IndexFunc(list, is); at >= 0 {
		return list[at]
	}
	return nil
}
