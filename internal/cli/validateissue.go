package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/org/autoloop/internal/app"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/github/api"
	"github.com/org/autoloop/internal/github/sync"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/schedule"
)

// issueCheck is what `scheduler validate --issue` found.
type issueCheck struct {
	validated
	Issue int `json:"issue"`
	// Untrusted says why the author's programs are not run; "" when they are.
	Untrusted string `json:"untrusted,omitempty"`
}

// validateIssue checks the program that an issue is and, when asked, says on
// the issue what it found: in one comment, which later checks edit. The author
// is told, so that a program with errors is no failure of the command then.
func validateIssue(ctx context.Context, env Env, o schedulerOptions, number int, comment, asJSON bool) error {
	hub, err := o.Client(env)
	if err != nil {
		return err
	}
	if hub == nil {
		return misuse.Errorf("issue #%d cannot be read without GitHub: give --repo and a token in GITHUB_TOKEN", number)
	}
	root, repo, err := o.Root(ctx, env)
	if err != nil {
		return err
	}
	issue, err := hub.Issue(ctx, number)
	if err != nil {
		return err
	}
	p, stranger, why, err := issueToCheck(ctx, env, o, hub, repo, root, issue)
	if err != nil {
		return err
	}
	if p == nil {
		fmt.Fprintf(env.Stdout, "issue #%d is not checked: %s\n", number, why)
		return nil
	}
	deps := &app.Deps{Env: env, Options: o.Options, GitHub: hub, Repo: repo}
	check := issueCheck{validated: validateOne(ctx, deps, p, root, workingFiles(root)), Issue: number, Untrusted: stranger}
	if err := check.print(env, asJSON); err != nil {
		return err
	}
	if comment {
		return check.say(ctx, hub)
	}
	if len(check.Errors) > 0 || stranger != "" {
		return &ExitError{Code: ExitFailed}
	}
	return nil
}

// issueToCheck is the program of an issue under the name that it has among the
// others; nil with the reason when the issue is not a program.
func issueToCheck(ctx context.Context, env Env, o schedulerOptions, hub *api.Client, repo *git.Repo, root string, issue api.Issue) (p *program.Program, stranger, why string, err error) {
	switch {
	case issue.Pull:
		return nil, "", "it is a pull request", nil
	case !issue.Open:
		return nil, "", "it is closed", nil
	case !slices.Contains(issue.Labels, sync.ProgramLabel):
		return nil, "", "it has no label " + sync.ProgramLabel, nil
	}
	files, err := memory.Programs{Root: root, Dir: o.Programs, Parse: program.ParseHead}.Load(true)
	if err != nil {
		return nil, "", "", misuse.New(err)
	}
	var states map[string][]byte
	if repo != nil {
		if states, _, err = (&memory.Memory{Repo: repo, Now: env.Now}).States(ctx); err != nil {
			return nil, "", "", err
		}
	}
	found, _, err := schedule.DiscoverIssues(ctx, hub, sync.ProgramLabel, files, states)
	if err != nil {
		return nil, "", "", err
	}
	for _, known := range found.Programs {
		if known.Issue == issue.Number {
			goOnAs(known, states)
			return known, "", "", nil
		}
	}
	for _, other := range found.Untrusted {
		if other.Issue == issue.Number {
			return program.ParseIssue(issue.Number, issue.Title, []byte(issue.Body)), other.Reason, "", nil
		}
	}
	for name, own := range found.Linked {
		if own == issue.Number {
			return nil, "", "it is the own issue of program " + name, nil
		}
	}
	if len(found.Warnings) > 0 {
		return nil, "", found.Warnings[0], nil
	}
	return nil, "", "GitHub does not list it yet", nil
}

func (c issueCheck) print(env Env, asJSON bool) error {
	if asJSON {
		encoder := json.NewEncoder(env.Stdout)
		encoder.SetIndent("", "  ")
		encoder.SetEscapeHTML(false)
		return encoder.Encode(c)
	}
	text := c.text()
	if c.Untrusted != "" {
		text += "  untrusted: " + c.Untrusted + "\n"
	}
	_, err := fmt.Fprint(env.Stdout, text)
	return err
}

func (c issueCheck) text() string {
	var out strings.Builder
	c.validated.print(&out)
	return out.String()
}

// say comments, or edits what it said before when it says something else now.
func (c issueCheck) say(ctx context.Context, hub *api.Client) error {
	body := render.Check(c.Name, c.text(), c.Untrusted, c.OK)
	comments, err := hub.Comments(ctx, c.Issue, time.Time{})
	if err != nil {
		return err
	}
	for _, said := range comments {
		ours := strings.HasSuffix(said.Author, "[bot]") || slices.Contains(program.DefaultTrusted(), said.Association)
		if !ours || !render.Has(said.Body, render.CheckMark) {
			continue
		}
		if strings.TrimSpace(said.Body) == strings.TrimSpace(body) {
			return nil
		}
		return hub.EditComment(ctx, said.ID, body)
	}
	_, err = hub.CreateComment(ctx, c.Issue, body)
	return err
}
