package taskrun

import "context"

// Part is one of several parts of a suite, which are run apart: task i, from 0,
// is in part i mod Of + 1. The zero value is all of it.
type Part struct {
	// Index counts from 1 to Of.
	Index, Of int
}

func (p Part) has(task int) bool { return p.Of <= 1 || task%p.Of == p.Index-1 }

// Partial is what there is after a part was run.
type Partial struct {
	// Tasks are the part's; Runs of them are there, Reused of those from before.
	Tasks        []string
	Runs, Reused int
	// Digest identifies the suite, both configurations, and all else that the
	// runs of any part depend on.
	Digest string
}

// RunPart makes the runs of one part of the suite for both configurations, and
// compares nothing. In automatic mode each task is run five times where a model
// is known to take part, else once. Run, given all parts' archives as one, takes
// them all, makes what its rule still asks for, and comes to what it would have
// come to alone. Errors are those of Run.
func RunPart(ctx context.Context, s *TaskSuite, baseline, candidate Side, o Options, part Part) (Partial, error) {
	session, err := prepare(ctx, s, baseline, candidate, o)
	if err != nil {
		return Partial{}, err
	}
	session.part = part
	if err := session.upTo(ctx, session.first()); err != nil {
		return Partial{}, err
	}
	done := Partial{Runs: len(session.records), Reused: session.reused}
	keys := []any{o.Runs}
	for i, task := range session.tasks {
		keys = append(keys, task.keys)
		if part.has(i) {
			done.Tasks = append(done.Tasks, task.ID)
		}
	}
	done.Digest = digest(keys)
	return done, nil
}
