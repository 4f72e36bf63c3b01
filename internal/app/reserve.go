package app

import (
	"context"

	"github.com/org/autoloop/internal/loop"
)

// Reserve records the start of an iteration of each of these programs, for jobs
// that cannot write. A program that cannot begin keeps no other from it: its
// reservation says why.
func (d *Deps) Reserve(ctx context.Context, names []string) ([]loop.Reservation, error) {
	made := make([]loop.Reservation, 0, len(names))
	for _, name := range names {
		one, err := d.reserve(ctx, name)
		if ctx.Err() != nil {
			return made, ctx.Err()
		}
		if err != nil {
			one = loop.Reservation{Program: name, Reason: err.Error(), Failed: true}
		}
		made = append(made, one)
	}
	return made, nil
}

func (d *Deps) reserve(ctx context.Context, name string) (loop.Reservation, error) {
	of := *d
	of.Options.Program = name
	p, issue, err := of.Program(ctx)
	if err == nil {
		err = of.CheckCIGate(p)
	}
	if err != nil {
		return loop.Reservation{}, err
	}
	return of.Recorder(ctx, p, issue).Reserve(ctx)
}
