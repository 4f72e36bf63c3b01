package loop

import (
	"context"
	"errors"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/github/commands"
	"github.com/org/autoloop/internal/history"
)

// CommandsResult says what the commands of comments led to.
type CommandsResult struct {
	Program string `json:"program"`
	// Run says that somebody asked for an iteration now.
	Run      bool     `json:"run"`
	Busy     string   `json:"busy,omitempty"`
	Stopped  string   `json:"stopped,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
}

// ApplyCommands applies the commands of new comments and brings GitHub up to date,
// without an iteration, so that it works for a paused or completed program too. It
// takes no lease, and leaves a program alone that another run works on.
func (s *Service) ApplyCommands(ctx context.Context) (CommandsResult, error) {
	result := CommandsResult{Program: s.Program.Name}
	r, err := s.aside(ctx)
	if err == nil && r.files.Ledger == nil {
		var paused bool
		if result.Run, paused, err = r.askedAtFirst(ctx); err != nil || !paused {
			return result, err
		}
	}
	if err == nil {
		err = r.readComments(ctx)
	}
	if result.Busy, err = busy(err); err != nil || result.Busy != "" {
		return result, err
	}
	r.updateGitHub(ctx)
	result.Run, result.Stopped, result.Warnings = r.asked, r.stopped, r.warnings
	return result, nil
}

// aside opens the records for a change without a lease, which waits for another run that works
// on the program.
func (s *Service) aside(ctx context.Context) (*run, error) {
	r := s.begin()
	r.aside, r.mayWrite = true, r.requireNoLease
	if err := r.open(ctx); err != nil {
		return r, err
	}
	r.iteration = r.records.Iteration + 1
	return r, r.requireNoLease(r.records)
}

// busy names the run that a change without a lease waits for, "" for none.
func busy(err error) (string, error) {
	if end, is := errors.AsType[*endedError](err); is {
		return end.Error(), nil
	}
	return "", err
}

// Command applies one command, as a comment of its author would, and returns the answer,
// and whether it was done; by names another run that works on the program.
func (s *Service) Command(ctx context.Context, author string, command commands.Command) (answer string, good bool,
	by string, err error,
) {
	r, err := s.aside(ctx)
	if by, err = busy(err); err != nil || by != "" {
		return "", false, by, err
	}
	if r.files.Ledger == nil {
		return "", false, "", ErrNoHistory
	}
	id := commands.ParseMark(r.records.CommandsUntil)[commands.Talk] + 1 // behind those that were read
	said := commands.Comment{ID: id, Author: author, Time: r.Now(), Commands: []commands.Command{command}}
	r.comments = &commands.Heard{Comments: []commands.Comment{said}}
	if by, err = busy(r.applyCommands(ctx)); err != nil || by != "" {
		return "", false, by, err
	}
	answers := history.Of[*history.Answered](r.records.log.Events)
	last := answers[len(answers)-1]
	to, _ := commands.ParseAnswer(last.Key)
	return last.Reason, to.Good, "", err
}

// ErrNoHistory says that a program has no records yet.
var ErrNoHistory = errors.New("the program has no history yet")

// Pause keeps further iterations from beginning, and takes no lease. The run that works
// on the program ends its iteration as it would: it is named, "" without one.
func (s *Service) Pause(ctx context.Context, reason string) (worker string, err error) {
	r := s.begin()
	err = r.update(ctx, "paused", nil, func(b *records) error {
		if b.read.Ledger == nil {
			return ErrNoHistory
		}
		b.readEdits()
		b.pause(decision.Say(reason))
		return nil
	})
	if err == nil {
		worker = r.leaseHolder(r.records)
	}
	return worker, err
}

// askedAtFirst reports whether somebody asks for the first iteration of a program, which
// then begins the records and answers, or pauses the program before it.
func (r *thread) askedAtFirst(ctx context.Context) (asked, paused bool, err error) {
	if r.GitHub == nil {
		return false, false, nil
	}
	heard, err := r.GitHub.Look(ctx, r.account())
	for _, c := range heard.Comments {
		for _, command := range c.Commands {
			switch command.Kind { //nolint:exhaustive // The others neither start nor stop it.
			case commands.Run, commands.Resume, commands.Reactivate:
				asked, paused = true, false
			case commands.Pause:
				asked, paused = false, true
			}
		}
	}
	return asked, paused, err
}

// requireNoLease is an error while another run works on the program: a change without a
// lease waits for it.
func (r *run) requireNoLease(b *records) error {
	if holder := r.leaseHolder(b); holder != "" {
		return ends(history.Busy, decision.Say(holder))
	}
	b.readEdits()
	return nil
}
