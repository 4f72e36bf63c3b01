package githubtest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// object is a JSON object of an answer.
type object map[string]any

const site = "https://github.test"

// serial numbers objects that have no number of their own.
func serial(text string) int64 {
	sum := int64(1)
	for _, c := range text {
		sum = (sum*31 + int64(c)) % 1_000_003
	}
	return sum
}

func stamp(at time.Time) string { return at.UTC().Format(time.RFC3339) }

func user(login string) object {
	kind := "User"
	if strings.HasSuffix(login, "[bot]") {
		kind = "Bot"
	}
	return object{"login": login, "id": serial(login), "type": kind}
}

func (s *State) at() string { return site + "/repos/" + s.Repository }

func (s *State) repo(fullName string) object {
	owner, name, _ := strings.Cut(fullName, "/")
	return object{
		"id": serial(fullName), "name": name, "full_name": fullName, "owner": user(owner),
		"html_url": site + "/" + fullName,
		"fork":     s.Fork || fullName != s.Repository, "default_branch": s.DefaultBranch,
		"has_issues":  true,
		"permissions": object{"admin": false, "push": true, "pull": true},
	}
}

func (s *State) label(name string) object {
	return object{"id": serial(name), "name": name}
}

func (s *State) labels(names []string) []object {
	list := []object{}
	for _, name := range names {
		list = append(list, s.label(name))
	}
	return list
}

func users(logins []string) []object {
	list := []object{}
	for _, login := range logins {
		list = append(list, user(login))
	}
	return list
}

func (s *State) issue(i *Issue) object {
	base := fmt.Sprintf("%s/issues/%d", s.at(), i.Number)
	o := object{
		"id": 5000 + i.Number, "number": i.Number, "title": i.Title, "body": i.Body, "state": openness(i.Open),
		"user": user(i.Author), "author_association": s.association(i.Author), "labels": s.labels(i.Labels),
		"assignees": users(i.Assignees), "comments": len(s.On(i.Number)), "created_at": stamp(i.Created),
		"updated_at": stamp(i.Updated), "repository_url": s.at(), "url": base,
		"html_url": fmt.Sprintf("%s/%s/issues/%d", site, s.Repository, i.Number),
	}
	if s.Pull(i.Number) != nil {
		o["pull_request"] = object{"url": base}
	}
	return o
}

func openness(open bool) string {
	if open {
		return "open"
	}
	return "closed"
}

func (s *State) comment(c *Comment) object {
	return object{
		"id": c.ID, "body": c.Body, "user": user(c.Author), "author_association": s.association(c.Author),
		"created_at": stamp(c.Created), "updated_at": stamp(c.Updated),
		"url":       fmt.Sprintf("%s/issues/comments/%d", s.at(), c.ID),
		"html_url":  fmt.Sprintf("%s/%s/issues/%d#issuecomment-%d", site, s.Repository, c.On, c.ID),
		"issue_url": fmt.Sprintf("%s/issues/%d", s.at(), c.On),
	}
}

func (s *State) reviewComment(c *Comment) object {
	o := s.comment(c)
	o["path"], o["pull_request_url"] = c.Path, fmt.Sprintf("%s/pulls/%d", s.at(), c.On)
	return o
}

func (s *State) review(c *Comment) object {
	id, body := c.ID, c.Body
	if c.Path != "" {
		id, body = 1, ""
	}
	return object{
		"id": id, "body": body, "user": user(c.Author), "author_association": s.association(c.Author),
		"state": "COMMENTED", "submitted_at": stamp(c.Created),
		"pull_request_url": fmt.Sprintf("%s/pulls/%d", s.at(), c.On),
	}
}

// headSHA is the commit of a pull request's head: that of the branch while it
// is open.
func (s *Server) headSHA(p *Pull) string {
	if p.HeadSHA != "" {
		return p.HeadSHA
	}
	return s.branch(p.Head)
}

func (s *Server) branch(name string) string {
	if s.Heads != nil {
		return s.Heads(name)
	}
	return s.state.Branches[name]
}

func (s *Server) pull(p *Pull, whole bool) object {
	state, i := s.state, s.state.Issue(p.Number)
	base := fmt.Sprintf("%s/pulls/%d", state.at(), p.Number)
	side := func(of, ref, sha string) object {
		owner, _, _ := strings.Cut(of, "/")
		return object{"label": owner + ":" + ref, "ref": ref, "sha": sha, "user": user(owner), "repo": state.repo(of)}
	}
	o := object{
		"id": 9000 + p.Number, "number": p.Number, "state": openness(i.Open), "title": i.Title, "body": i.Body,
		"user": user(i.Author), "author_association": state.association(i.Author), "labels": state.labels(i.Labels),
		"assignees": users(i.Assignees), "draft": p.Draft, "created_at": stamp(i.Created),
		"updated_at": stamp(i.Updated), "url": base,
		"html_url": fmt.Sprintf("%s/%s/pull/%d", site, state.Repository, p.Number),
		"head":     side(p.HeadOf, p.Head, s.headSHA(p)), "base": side(state.Repository, p.Base, s.branch(p.Base)),
	}
	if p.Closed != nil {
		o["closed_at"] = stamp(*p.Closed)
		if p.Merged {
			o["merged_at"], o["merge_commit_sha"] = stamp(*p.Closed), p.MergedCommit
		}
	}
	if whole {
		o["merged"], o["review_comments"] = p.Merged, 0
		for _, comment := range state.On(p.Number) {
			if comment.Path != "" {
				//nolint:errcheck,forcetypeassert // set to 0 just now
				o["review_comments"] = o["review_comments"].(int) + 1
			}
		}
	}
	return o
}

func (s *State) checkRun(c *Check) object {
	o := object{
		"id": c.ID, "head_sha": c.Commit, "name": c.Name, "html_url": site + "/check", "details_url": site,
		"status": "in_progress", "conclusion": nil, "started_at": stamp(c.Started), "completed_at": nil,
		"check_suite": object{"id": c.suite()}, "app": app(c.app()),
		"output": object{"summary": c.Summary, "annotations_count": len(c.Annotations)},
	}
	if c.Conclusion != "" {
		o["status"], o["conclusion"], o["completed_at"] = "completed", c.Conclusion, stamp(c.Completed)
	}
	return o
}

func (s *State) status(c *Check) object {
	state := c.Conclusion
	if state == "" {
		state = "pending"
	}
	return object{
		"id": c.ID, "state": state, "description": c.Summary, "context": c.Name, "target_url": site,
		"created_at": stamp(c.Started), "updated_at": stamp(c.Started),
	}
}

// commit is a commit whose author has no login.
func (s *State) commit(sha string) object {
	return object{"sha": sha, "author": nil}
}

func (s *State) branchObject(name, sha string) object {
	contexts, checks := []string{}, []object{}
	for _, r := range s.Protections[name] {
		contexts = append(contexts, r.Name)
		check := object{"context": r.Name, "app_id": nil}
		if r.App > 0 {
			check["app_id"] = r.App
		}
		checks = append(checks, check)
	}
	return object{
		"name": name, "commit": s.commit(sha), "protected": slices.Contains(s.Protected, name),
		"protection": object{
			"enabled": len(checks) > 0, "required_status_checks": object{
				"enforcement_level": "non_admins", "contexts": contexts, "checks": checks,
			},
		},
	}
}

// actionsApp is the number of GitHub Actions among the apps.
const actionsApp = 15368

func (c *Check) app() int64 { return cmp.Or(c.App, actionsApp) }

func app(id int64) object {
	slug := "github-actions"
	if id != actionsApp {
		slug = fmt.Sprintf("app-%d", id)
	}
	return object{"id": id, "slug": slug, "name": slug}
}
