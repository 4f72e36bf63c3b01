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

// addresses sets keys to addresses below base: "labels_url" is base/labels.
func (o object) addresses(base, keys string) object {
	for key := range strings.FieldsSeq(keys) {
		o[key] = base + "/" + strings.TrimSuffix(key, "_url")
	}
	return o
}

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
	o := object{
		"login": login, "id": serial(login), "node_id": "U_" + login, "type": kind, "site_admin": false,
		"gravatar_id": "", "url": site + "/users",
	}
	return o.addresses(site+"/users",
		`avatar_url events_url followers_url following_url gists_url html_url organizations_url
		received_events_url repos_url starred_url subscriptions_url`)
}

func (s *State) at() string { return site + "/repos/" + s.Repository }

func (s *State) repo(fullName string) object {
	owner, name, _ := strings.Cut(fullName, "/")
	o := object{
		"id": serial(fullName), "node_id": "R_" + name, "name": name, "full_name": fullName, "owner": user(owner),
		"private":  s.Private,
		"html_url": site + "/" + fullName, "description": nil, "fork": s.Fork || fullName != s.Repository,
		"url":            site + "/repos/" + fullName,
		"default_branch": s.DefaultBranch, "homepage": nil, "language": nil, "mirror_url": nil, "license": nil,
		"archived": false, "disabled": false,
		"has_issues": true, "has_projects": true, "has_wiki": true, "has_pages": false, "has_downloads": true,
		"has_discussions": false,
		"forks":           0, "forks_count": 0, "open_issues": 0, "open_issues_count": 0, "size": 1,
		"stargazers_count": 0,
		"watchers":         0, "watchers_count": 0,
		"network_count": 0, "subscribers_count": 0, "pushed_at": "2026-01-01T00:00:00Z",
		"created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z",
		"permissions": object{"admin": false, "push": true, "pull": true},
	}
	return o.addresses(site+"/repos/"+fullName,
		`archive_url assignees_url blobs_url branches_url clone_url collaborators_url comments_url commits_url
		compare_url contents_url contributors_url deployments_url downloads_url events_url forks_url
		git_commits_url git_refs_url git_tags_url git_url hooks_url issue_comment_url issue_events_url issues_url keys_url labels_url languages_url
		merges_url milestones_url notifications_url pulls_url releases_url ssh_url stargazers_url statuses_url subscribers_url subscription_url svn_url tags_url
		teams_url trees_url`)
}

func (s *State) label(name string) object {
	return object{
		"id": serial(name), "node_id": "L_" + name, "url": s.at() + "/labels", "name": name,
		"description": "", "color": "ededed", "default": false,
	}
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
		"id": 5000 + i.Number, "node_id": fmt.Sprintf("I_%d", i.Number), "number": i.Number, "title": i.Title,
		"body": i.Body, "state": openness(i.Open),
		"user": user(i.Author), "author_association": s.association(i.Author), "labels": s.labels(i.Labels),
		"assignee": nil, "assignees": users(i.Assignees),
		"milestone": nil, "locked": false, "comments": len(s.On(i.Number)), "created_at": stamp(i.Created),
		"updated_at": stamp(i.Updated), "closed_at": nil,
		"url": base, "html_url": fmt.Sprintf("%s/%s/issues/%d", site, s.Repository, i.Number), "repository_url": s.at(),
	}
	if s.Pull(i.Number) != nil {
		o["pull_request"] = object{"url": base, "html_url": base, "diff_url": base, "patch_url": base}
	}
	return o.addresses(base, "comments_url events_url labels_url")
}

func openness(open bool) string {
	if open {
		return "open"
	}
	return "closed"
}

func (s *State) comment(c *Comment) object {
	return object{
		"id": c.ID, "node_id": fmt.Sprintf("IC_%d", c.ID), "body": c.Body, "user": user(c.Author),
		"author_association": s.association(c.Author),
		"created_at":         stamp(c.Created), "updated_at": stamp(c.Updated),
		"url":       fmt.Sprintf("%s/issues/comments/%d", s.at(), c.ID),
		"html_url":  fmt.Sprintf("%s/%s/issues/%d#issuecomment-%d", site, s.Repository, c.On, c.ID),
		"issue_url": fmt.Sprintf("%s/issues/%d", s.at(), c.On),
	}
}

func (s *State) reviewComment(c *Comment) object {
	o := s.comment(c)
	link := object{"href": site}
	o["path"], o["diff_hunk"], o["commit_id"], o["original_commit_id"] = c.Path, "@@", strings.Repeat("0", 40),
		strings.Repeat("0", 40)
	o["pull_request_review_id"], o["pull_request_url"] = 1, fmt.Sprintf("%s/pulls/%d", s.at(), c.On)
	o["_links"] = object{"self": link, "html": link, "pull_request": link}
	return o
}

func profile(login string) object {
	o := user(login)
	for _, key := range []string{"name", "company", "blog", "location", "email", "hireable", "bio"} {
		o[key] = nil
	}
	o["blog"], o["user_view_type"] = "", "public"
	for _, key := range []string{"public_repos", "public_gists", "followers", "following"} {
		o[key] = 0
	}
	o["created_at"], o["updated_at"] = stamp(time.Unix(0, 0)), stamp(time.Unix(0, 0))
	return o
}

func (s *State) review(c *Comment) object {
	id, body, link := c.ID, c.Body, object{"href": site}
	if c.Path != "" {
		id, body = 1, ""
	}
	return object{
		"id": id, "node_id": "PRR", "body": body, "user": user(c.Author), "author_association": s.association(c.Author),
		"state":    "COMMENTED",
		"html_url": site, "pull_request_url": fmt.Sprintf("%s/pulls/%d", s.at(), c.On),
		"commit_id":    strings.Repeat("0", 40),
		"submitted_at": stamp(c.Created), "_links": object{"html": link, "pull_request": link},
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
	link := object{"href": site}
	o := object{
		"id": 9000 + p.Number, "node_id": fmt.Sprintf("PR_%d", p.Number), "number": p.Number, "state": openness(i.Open),
		"locked": false, "title": i.Title,
		"body": i.Body, "user": user(i.Author), "author_association": state.association(i.Author),
		"labels": state.labels(i.Labels), "milestone": nil,
		"assignee": nil, "assignees": users(i.Assignees), "draft": p.Draft, "auto_merge": nil,
		"created_at": stamp(i.Created), "updated_at": stamp(i.Updated),
		"closed_at": nil, "merged_at": nil, "merge_commit_sha": nil, "url": base,
		"html_url": fmt.Sprintf("%s/%s/pull/%d", site, state.Repository, p.Number),
		"head":     side(p.HeadOf, p.Head, s.headSHA(p)), "base": side(state.Repository, p.Base, s.branch(p.Base)),
		"_links": object{
			"self": link, "html": link, "issue": link, "comments": link, "review_comments": link,
			"review_comment": link, "commits": link, "statuses": link,
		},
	}
	o.addresses(base, "comments_url commits_url diff_url issue_url patch_url review_comment_url review_comments_url "+
		"statuses_url")
	if p.Closed != nil {
		o["closed_at"] = stamp(*p.Closed)
		if p.Merged {
			o["merged_at"], o["merge_commit_sha"] = stamp(*p.Closed), p.MergedCommit
		}
	}
	if whole {
		for _, key := range []string{
			"additions", "changed_files", "comments", "commits", "deletions",
			"review_comments",
		} {
			o[key] = 0
		}
		for _, comment := range state.On(p.Number) {
			if comment.Path != "" {
				//nolint:errcheck,forcetypeassert // set to 0 just now
				o["review_comments"] = o["review_comments"].(int) + 1
			}
		}
		o["mergeable"], o["mergeable_state"], o["merged"], o["merged_by"], o["maintainer_can_modify"] = nil, "unknown",
			p.Merged, nil, false
	}
	return o
}

func (s *State) checkRun(c *Check) object {
	o := object{
		"id": c.ID, "node_id": fmt.Sprintf("CR_%d", c.ID), "head_sha": c.Commit, "name": c.Name, "url": site,
		"html_url": site + "/check", "details_url": site,
		"status": "in_progress", "conclusion": nil, "started_at": stamp(c.Started), "completed_at": nil,
		"external_id": "", "check_suite": object{"id": c.suite()},
		"app": app(c.app()), "pull_requests": []object{},
		"output": object{
			"title": nil, "summary": c.Summary, "text": nil, "annotations_count": len(c.Annotations),
			"annotations_url": site,
		},
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
		"id": c.ID, "node_id": fmt.Sprintf("S_%d", c.ID), "state": state, "description": c.Summary, "context": c.Name,
		"target_url": site, "url": site,
		"avatar_url": nil, "created_at": stamp(c.Started), "updated_at": stamp(c.Started),
	}
}

// commit is a commit whose author has no login.
func (s *State) commit(sha string) object {
	who := object{"name": "A", "email": "a@example.com", "date": "2026-01-01T00:00:00Z"}
	return object{
		"sha": sha, "node_id": "C", "url": site, "html_url": site, "comments_url": site, "author": nil,
		"committer": nil, "parents": []object{},
		"commit": object{
			"url": site, "author": who, "committer": who, "message": "m", "comment_count": 0,
			"tree": object{"sha": sha, "url": site},
		},
	}
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
		"name": name, "commit": s.commit(sha), "_links": object{"html": site, "self": site},
		"protected": slices.Contains(s.Protected, name),
		"protection": object{
			"enabled": len(checks) > 0, "required_status_checks": object{
				"enforcement_level": "non_admins",
				"contexts":          contexts, "checks": checks,
			},
		}, "protection_url": site,
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
	return appNamed(id, slug)
}

func appNamed(id int64, slug string) object {
	return object{
		"id": id, "slug": slug, "node_id": "A", "owner": user("github"), "name": slug, "description": nil,
		"external_url": site, "html_url": site,
		"created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z", "permissions": object{},
		"events": []string{},
	}
}
