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
	r, by, err := s.aside(ctx, (*run).readComments)
	result := CommandsResult{Program: s.Program.Name, Busy: by}
	if err == nil && by == "" {
		r.updateGitHub(ctx)
		result.Run, result.Stopped, result.Warnings = r.asked, r.stopped, r.warnings
	}
	return result, err
}

// aside makes a change of the records without a lease. Where another run works on the program, that is
// named and nothing is changed.
func (s *Service) aside(ctx context.Context, change func(*run, context.Context) error) (r *run, by string, err error) {
	r = s.begin()
	r.aside, r.mayWrite = true, r.requireNoLease
	if err = r.open(ctx); err == nil {
		err = r.requireNoLease(r.records)
		r.iteration = r.records.iteration
	}
	if err == nil {
		err = change(r, ctx)
	}
	if end, is := endOf(err); is {
		return r, end.Error(), nil
	}
	return r, "", err
}

// Command applies one command, as a comment of its author would, and returns the answer,
// and whether it was done; by names another run that works on the program.
func (s *Service) Command(ctx context.Context, author string, command commands.Command) (answer string, good bool,
	by string, err error,
) {
	r, by, err := s.aside(ctx, func(r *run, ctx context.Context) error {
		if r.files.Ledger == nil {
			return ErrNoHistory
		}
		said := commands.Comment{Author: author, Time: r.Now(), Commands: []commands.Command{command}}
		said.ID = commands.ParseMark(r.records.CommandsUntil)[commands.Talk] + 1 // behind those that were read
		r.comments = &commands.Heard{Comments: []commands.Comment{said}}
		return r.applyCommands(ctx)
	})
	if err != nil || by != "" {
		return "", false, by, err
	}
	answers := history.Of[*history.Answered](r.records.log.Events)
	last := answers[len(answers)-1]
	to, _ := commands.ParseAnswer(last.Key)
	return last.Reason, to.Good, "", nil
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

// requireNoLease is an error while another run works on the program: a change without a
// lease waits for it. It takes over what people and other tools wrote into the state.
func (r *run) requireNoLease(b *records) error {
	if holder := r.leaseHolder(b); holder != "" {
		return ends(history.Busy, decision.Say(holder))
	}
	b.readEdits()
	b.adopt()
	b.iteration = b.Iteration + 1
	return nil
}
