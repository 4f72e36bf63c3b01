package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/org/autoloop/internal/github/ci"
	"github.com/org/autoloop/internal/github/commands"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/render"
)

// Command applies one command to a program, as a comment on GitHub would, and
// returns the answer. The author is who or what asks for it.
func (d *dependencies) Command(ctx context.Context, p *program.Program, author string, command commands.Command) (answer string, err error) {
	console := &console{author: author, command: command, env: d.Env}
	service := d.service(p)
	if command.Kind == commands.Pause {
		return d.pause(ctx, service, command.Text)
	}
	service.GitHub = console
	result, err := service.ApplyCommands(ctx)
	switch {
	case err != nil:
		return "", err
	case result.Busy != "":
		return "", misuse.Errorf("%s is in use: %s; `iterate pause %s` lets it end after this iteration", p.Name, result.Busy, p.Name)
	case console.answer == "":
		return "", noHistoryYet(p.Name)
	case !console.done:
		return "", misuse.Errorf("%s", console.answer)
	}
	return console.answer, nil
}

// pause records a pause at once, also while a run works.
func (d *dependencies) pause(ctx context.Context, service *loop.Service, reason string) (answer string, err error) {
	name := service.Program.Name
	worker, err := service.Pause(ctx, reason)
	switch {
	case errors.Is(err, loop.ErrNoHistory):
		return "", noHistoryYet(name)
	case err != nil:
		return "", err
	case worker != "":
		return fmt.Sprintf("paused; the iteration under way ends as it would, and no further one begins (%s); `iterate resume %s` goes on", worker, name), nil
	}
	return fmt.Sprintf("paused; `iterate resume %s` goes on", name), nil
}

func noHistoryYet(name string) error {
	return misuse.Errorf("program %q has no history yet: run `iterate --program %s` first", name, name)
}

// console stands in for a program's issue: it has one comment, which the command
// line makes, and keeps its answer.
type console struct {
	author  string
	command commands.Command
	env     Env

	answer string
	done   bool
}

// Hear returns the comment, numbered behind those that were read.
func (c *console) Hear(_ context.Context, a render.Account) (commands.Heard, error) {
	read := commands.ParseMark(a.Summary().CommandsUntil)
	comment := commands.Comment{ID: read.Issue + 1, Author: c.author, Time: c.env.Now(), Commands: []commands.Command{c.command}}
	return commands.Heard{Comments: []commands.Comment{comment}}, nil
}

// Look finds nothing: a program without history applies no command.
func (c *console) Look(context.Context, render.Account) (commands.Heard, error) {
	return commands.Heard{}, nil
}

// Answer keeps what came of the comment.
func (c *console) Answer(_ context.Context, to commands.Answer, text string) error {
	c.answer, c.done = text, to.Good
	return nil
}

// The next iteration brings GitHub up to date: the rest does nothing.

// Open opens no issue.
func (c *console) Open(context.Context, render.Account) (number int, author string, err error) {
	return 0, "", nil
}

// Changes counts nothing.
func (c *console) Changes() int { return 0 }

// Promote opens no pull request.
func (c *console) Promote(context.Context, render.Account, string) (int, error) { return 0, nil }

// CI is not asked by commands.
func (c *console) CI(context.Context, ci.Candidate) ci.Result { return ci.Result{} }

// HasCI is not asked by commands.
func (c *console) HasCI(context.Context, string) (bool, error) { return false, nil }

// Dispatch starts nothing.
func (c *console) Dispatch(context.Context, string, string) error { return nil }

// Show shows nothing.
func (c *console) Show(context.Context, render.Account) error { return nil }
