package api

import (
	"context"
	"slices"
	"strings"

	gh "github.com/google/go-github/v62/github"
)

const (
	// askedAlone is up to how many people are asked for one by one.
	askedAlone = 2
	// writerPages bounds how many pages of collaborators are read.
	writerPages = 10
)

// Writers are those of these people who may write here. It is what tells members
// whose membership is private from strangers. A few are asked for one by one,
// more by the list of all who may do anything here, so that however many
// strangers there are, they use up no more requests and push nobody aside.
func (c *Client) Writers(ctx context.Context, logins []string) (map[string]bool, error) {
	if len(logins) > askedAlone {
		found, err := c.listedWriters(ctx, logins)
		if !Refused(err) {
			return found, err
		}
		logins = logins[:askedAlone]
	}
	found := map[string]bool{}
	for _, login := range logins {
		may, err := c.mayWrite(ctx, login)
		if err != nil {
			return nil, err
		}
		if may {
			found[login] = true
		}
	}
	return found, nil
}

// mayWrite asks for one person. That the token may not ask makes nobody trusted.
func (c *Client) mayWrite(ctx context.Context, login string) (bool, error) {
	level, _, err := c.api.Repositories.GetPermissionLevel(ctx, c.owner, c.name, login)
	if err = c.fail("read what "+clip(line(login), 50)+" may do", err); err != nil {
		if Refused(err) {
			err = nil
		}
		return false, err
	}
	return slices.Contains([]string{"admin", "maintain", "write"}, level.GetPermission()), nil
}

func (c *Client) listedWriters(ctx context.Context, logins []string) (map[string]bool, error) {
	options := &gh.ListCollaboratorsOptions{ListOptions: gh.ListOptions{PerPage: perPage}}
	found := map[string]bool{}
	for range writerPages {
		people, answer, err := c.api.Repositories.ListCollaborators(ctx, c.owner, c.name, options)
		if err != nil {
			return nil, c.fail("list who may write", err)
		}
		for _, person := range people {
			at := slices.IndexFunc(logins, func(login string) bool { return strings.EqualFold(login, person.GetLogin()) })
			if at >= 0 && person.GetPermissions()["push"] {
				found[logins[at]] = true
			}
		}
		if options.Page = answer.NextPage; options.Page == 0 {
			break
		}
	}
	return found, nil
}
