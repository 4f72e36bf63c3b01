package api

import (
	"context"
	"slices"
	"strings"
	"sync"

	gh "github.com/google/go-github/v62/github"

	"github.com/org/autoloop/internal/plain"
)

const (
	// askedAlone is up to how many people are asked for one by one, askedAtMost
	// where the token may not list them all.
	askedAlone, askedAtMost = 2, 10
	// writerPages bounds how many pages of collaborators are read.
	writerPages = 10
)

// people remembers what was found out of whom.
type people struct {
	mu    sync.Mutex
	write map[string]bool // by the login in lower case
}

// Writers are those of these people who may push here: permission write,
// maintain or admin. Whoever was asked for is remembered for the run. A few are
// asked for one by one, more by the list of all who may do anything here, so
// that however many strangers there are, they use up no more requests. The token
// may be refused both; then refused says so, and nobody is found.
func (c *Client) Writers(ctx context.Context, logins []string) (writers map[string]bool, refused error, err error) {
	c.people.mu.Lock()
	defer c.people.mu.Unlock()
	if c.people.write == nil {
		c.people.write = map[string]bool{}
	}
	var unknown []string
	for _, login := range logins {
		if _, known := c.people.write[strings.ToLower(login)]; !known && !slices.Contains(unknown, login) {
			unknown = append(unknown, login)
		}
	}
	if refused, err = c.meet(ctx, unknown); err != nil {
		return nil, nil, err
	}
	writers = map[string]bool{}
	for _, login := range logins {
		if c.people.write[strings.ToLower(login)] {
			writers[login] = true
		}
	}
	return writers, refused, nil
}

// meet finds out about people who are not known yet.
func (c *Client) meet(ctx context.Context, logins []string) (refused, err error) {
	if len(logins) > askedAlone {
		listed, err := c.listWriters(ctx)
		if err == nil {
			for _, login := range logins {
				c.people.write[strings.ToLower(login)] = listed[strings.ToLower(login)]
			}
			return nil, nil
		}
		if !Refused(err) {
			return nil, err
		}
		logins = logins[:min(len(logins), askedAtMost)]
	}
	for _, login := range logins {
		may, err := c.mayWrite(ctx, login)
		switch {
		case NotFound(err): // nobody of this repository
		case Refused(err):
			refused = err
			continue
		case err != nil:
			return nil, err
		}
		c.people.write[strings.ToLower(login)] = may
	}
	return refused, nil
}

func (c *Client) mayWrite(ctx context.Context, login string) (bool, error) {
	level, _, err := c.api.Repositories.GetPermissionLevel(ctx, c.owner, c.name, login)
	if err != nil {
		return false, c.fail("read what "+plain.Short(login, 50)+" may do", err)
	}
	return slices.Contains([]string{"admin", "maintain", "write", "push"}, level.GetPermission()), nil
}

// listWriters are all who may push, by their logins in lower case.
func (c *Client) listWriters(ctx context.Context) (map[string]bool, error) {
	options := &gh.ListCollaboratorsOptions{Permission: "push", ListOptions: gh.ListOptions{PerPage: perPage}}
	found := map[string]bool{}
	for range writerPages {
		people, answer, err := c.api.Repositories.ListCollaborators(ctx, c.owner, c.name, options)
		if err != nil {
			return nil, c.fail("list who may write", err)
		}
		for _, person := range people {
			// The list is of those who may push; a server that ignores that says what each may.
			if may := person.GetPermissions(); len(may) == 0 || may["push"] {
				found[strings.ToLower(person.GetLogin())] = true
			}
		}
		if options.Page = answer.NextPage; options.Page == 0 {
			break
		}
	}
	return found, nil
}
