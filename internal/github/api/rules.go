package api

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	gh "github.com/google/go-github/v62/github"

	"github.com/org/autoloop/internal/github/ci"
	"github.com/org/autoloop/internal/plain"
)

// RequiredChecks are those that the rulesets and the protection of a branch
// require. GitHub shows a branch's required checks to whoever may read it; the
// rest of its protection is for administrators.
func (c *Client) RequiredChecks(ctx context.Context, branch string) ([]ci.Required, error) {
	required, err := c.protectionChecks(ctx, branch)
	if err != nil {
		return nil, err
	}
	ruled, err := c.ruleChecks(ctx, branch)
	for _, check := range ruled {
		if !slices.Contains(required, check) {
			required = append(required, check)
		}
	}
	return required, err
}

func (c *Client) protectionChecks(ctx context.Context, branch string) ([]ci.Required, error) {
	var found struct {
		Protection struct {
			Required struct {
				Contexts []string
				Checks   []struct {
					Context string
					App     *int64 `json:"app_id"`
				}
			} `json:"required_status_checks"`
		}
	}
	if _, err := c.get(ctx, "branches/"+url.PathEscape(branch), &found); err != nil {
		return nil, c.fail("read the protection of branch "+plain.Short(branch, 100), err)
	}
	var list []ci.Required
	for _, check := range found.Protection.Required.Checks {
		list = append(list, ci.Required{Name: check.Context, App: appOf(check.App)})
	}
	for _, name := range found.Protection.Required.Contexts {
		if !slices.ContainsFunc(list, func(r ci.Required) bool { return r.Name == name }) {
			list = append(list, ci.Required{Name: name})
		}
	}
	return list, nil
}

// ruleChecks are those of the rulesets. A server without rulesets, and a plan
// without them, has no rules.
func (c *Client) ruleChecks(ctx context.Context, branch string) ([]ci.Required, error) {
	type rule struct {
		Type       string
		Parameters struct {
			Checks []struct {
				Context string
				App     *int64 `json:"integration_id"`
			} `json:"required_status_checks"`
		}
	}
	op := "read the rules of branch " + plain.Short(branch, 100)
	rules, err := pages(c, op, func(page int) (found []rule, answer *gh.Response, err error) {
		answer, err = c.page(ctx, "rules/branches/"+url.PathEscape(branch), page, &found)
		return found, answer, err
	}, func(r rule) (list []ci.Required) {
		for _, check := range r.Parameters.Checks {
			if r.Type == "required_status_checks" {
				list = append(list, ci.Required{Name: check.Context, App: appOf(check.App)})
			}
		}
		return list
	})
	if NotFound(err) || status(err) == http.StatusForbidden && strings.Contains(err.Error(), "Upgrade to GitHub") {
		err = nil
	}
	return slices.Concat(rules...), err
}

// appOf is 0 where GitHub says null or -1: any app will do.
func appOf(id *int64) int64 {
	if id == nil || *id < 0 {
		return 0
	}
	return *id
}
