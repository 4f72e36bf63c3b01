package api

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	gh "github.com/google/go-github/v62/github"

	"github.com/org/autoloop/internal/plain"
)

// Repository is what the API says of the repository to this token.
type Repository struct {
	DefaultBranch           string `json:"default_branch"`
	Private, Fork, Archived bool
	HasIssues               bool `json:"has_issues"`
	// Permissions has push, which says whether the token may push.
	Permissions struct{ Push bool }
	// Scopes are those of a classic token, with commas; "" for a token of another kind.
	Scopes string `json:"-"`
}

// About reads the repository.
func (c *Client) About(ctx context.Context) (about Repository, err error) {
	header, err := c.do(ctx, "read repository "+c.Repository(), http.MethodGet, "", nil, &about)
	about.Scopes = header.Get("X-Oauth-Scopes")
	return about, err
}

// Branch is a branch as the API knows it.
type Branch struct {
	Commit     struct{ SHA string }
	Protected  bool
	Protection struct {
		Required struct {
			Contexts []string
			Checks   []required
		} `json:"required_status_checks"`
	}
}

// Branch reads a branch; an error of one that is not there is NotFound.
func (c *Client) Branch(ctx context.Context, name string) (Branch, error) {
	return read[Branch](ctx, c, "read branch "+plain.Short(name, 100), "branches/"+url.PathEscape(name))
}

// seen reads what a token may not see perhaps: then, or when it is not there, found is false.
func seen[T any](ctx context.Context, c *Client, op, path string) (value T, found bool, err error) {
	value, err = read[T](ctx, c, op, path)
	if withheld(err) {
		return value, false, nil
	}
	return value, err == nil, err
}

// ActionsMayOpenPulls says whether the repository lets workflows open pull
// requests with their own token. Known is false when the token may not see it.
func (c *Client) ActionsMayOpenPulls(ctx context.Context) (allowed, known bool, err error) {
	settings, known, err := seen[struct {
		May bool `json:"can_approve_pull_request_reviews"`
	}](ctx, c, "read the permissions of workflows", "actions/permissions/workflow")
	return settings.May, known, err
}

// Workflow is a workflow of GitHub Actions.
type Workflow struct {
	Path string
	// State is active, disabled_manually, disabled_inactivity and others.
	State string
}

// Workflows lists the workflows of the repository.
func (c *Client) Workflows(ctx context.Context) ([]Workflow, error) {
	return list[Workflow](ctx, c, "list the workflows", "actions/workflows")
}

// Variable reads a variable of the repository for Actions; found is false when
// it is not set, or when the token may not see it.
func (c *Client) Variable(ctx context.Context, name string) (value string, found bool, err error) {
	variable, found, err := seen[struct{ Value string }](ctx, c, "read variable "+name, "actions/variables/"+name)
	return variable.Value, found, err
}

// Label is a label that issues of the repository may have. Color is six
// hexadecimal digits.
type Label struct {
	Name        string `json:"name"`
	Color       string `json:"color"`
	Description string `json:"description"`
}

// Labels are the repository's labels.
func (c *Client) Labels(ctx context.Context) ([]Label, error) {
	return list[Label](ctx, c, "list the labels", "labels")
}

// CreateLabel makes a label; it is no error that there is one of that name.
func (c *Client) CreateLabel(ctx context.Context, label Label) error {
	err := c.add(ctx, "make label "+label.Name, "labels", label)
	if Invalid(err) && strings.Contains(err.Error(), "already_exists") {
		return nil
	}
	return err
}

// Author is the login of who wrote a file of the default branch: the author of
// the oldest of its latest hundred commits that belongs to a person. It is ""
// when GitHub knows no login for any of their e-mail addresses.
func (c *Client) Author(ctx context.Context, path string) (string, error) {
	commits, err := read[[]*gh.RepositoryCommit](ctx, c, "find out who wrote "+plain.Short(path, 100),
		"commits?per_page=100&path="+url.QueryEscape(path))
	for _, commit := range slices.Backward(commits) {
		if login := commit.GetAuthor().GetLogin(); login != "" && !strings.HasSuffix(login, "[bot]") {
			return login, nil
		}
	}
	return "", err
}

// Login is whose token it is. An app's token may not ask: Refused says so of the error.
func (c *Client) Login(ctx context.Context) (string, error) {
	user, err := read[person](ctx, c, "read whose token it is", "../../../user")
	return user.Login, err
}

// person is somebody on GitHub. Permissions are those of a collaborator.
type person struct {
	Login       string
	Permissions map[string]bool
}

const (
	// askedAlone is up to how many people are asked for one by one, askedAtMost
	// where the token may not list them all.
	askedAlone, askedAtMost = 2, 10
)

// Writers are those of these people who may push here: permission write,
// maintain or admin. Whoever was asked for is remembered for the run. A few are
// asked for one by one, more by the list of all who may do anything here, so
// that however many strangers there are, they use up no more requests. The token
// may be refused both; then refused says so, and nobody is found.
func (c *Client) Writers(ctx context.Context, logins []string) (writers map[string]bool, refused, err error) {
	var unknown []string
	for _, login := range logins {
		if _, known := c.write[login]; !known && !slices.Contains(unknown, login) {
			unknown = append(unknown, login)
		}
	}
	if len(unknown) > askedAlone {
		people, err := list[person](ctx, c, "list who may write", "collaborators", "permission=push")
		if err != nil && !Refused(err) {
			return nil, nil, err
		}
		for _, login := range unknown {
			if err == nil {
				c.write[login] = slices.ContainsFunc(people, func(p person) bool {
					// The list is of those who may push; a server that ignores that says what each may.
					return strings.EqualFold(p.Login, login) && (len(p.Permissions) == 0 || p.Permissions["push"])
				})
			}
		}
		if unknown = unknown[:min(len(unknown), askedAtMost)]; err == nil {
			unknown = nil
		}
	}
	for _, login := range unknown {
		level, err := read[struct{ Permission string }](ctx, c, "read what "+plain.Short(login, 50)+" may do",
			"collaborators/"+url.PathEscape(login)+"/permission")
		switch {
		case err == nil, NotFound(err): // nobody of this repository
			c.write[login] = slices.Contains([]string{"admin", "maintain", "write", "push"}, level.Permission)
		case Refused(err):
			refused = err
		default:
			return nil, nil, err
		}
	}
	writers = map[string]bool{}
	for _, login := range logins {
		if c.write[login] {
			writers[login] = true
		}
	}
	return writers, refused, nil
}
