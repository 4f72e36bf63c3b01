package history

import (
	"iter"
	"strconv"
)

// KindOf is what the ledger calls the kind of an event.
func KindOf(e Event) Kind { return e.kind() }

func (*Started) kind() Kind   { return "started" }
func (*Measured) kind() Kind  { return "measured" }
func (*Proposed) kind() Kind  { return "proposed" }
func (*Decided) kind() Kind   { return "decided" }
func (*Pushed) kind() Kind    { return "pushed" }
func (*Finished) kind() Kind  { return "finished" }
func (*Checked) kind() Kind   { return "checked" }
func (*Paused) kind() Kind    { return "paused" }
func (*Resumed) kind() Kind   { return "resumed" }
func (*Completed) kind() Kind { return "completed" }
func (*Set) kind() Kind       { return "set" }
func (*Answered) kind() Kind  { return "answered" }

// kinds has an event of every kind that this version knows.
var kinds = [...]Event{
	&Measured{}, &Decided{}, &Started{}, &Finished{}, &Pushed{}, &Proposed{}, &Checked{}, &Set{}, &Answered{}, &Paused{}, &Resumed{}, &Completed{},
}

func newEvent(kind Kind) Event {
	for _, known := range kinds {
		if known.kind() == kind {
			return clone(known)
		}
	}
	return nil
}

// Of selects the events of one kind, such as those of slices.All or
// slices.Backward.
func Of[E Event](events iter.Seq2[int, Event]) iter.Seq[E] {
	return func(yield func(E) bool) {
		for _, e := range events {
			if e, is := e.(E); is && !yield(e) {
				return
			}
		}
	}
}

// UndoneBy is the iteration that an event says was undone, 0 for none.
func UndoneBy(e Event) int {
	if set, is := e.(*Set); is && set.Key == UndoneIteration {
		if n, err := strconv.Atoi(set.Value); err == nil {
			return n
		}
	}
	return 0
}

// CommitOf is the commit that an event names, "" when it names none.
func CommitOf(e Event) string {
	switch e := e.(type) {
	case *Measured:
		return e.Commit
	case *Decided:
		return e.Commit
	case *Pushed:
		return e.Commit
	case *Checked:
		return e.Commit
	case *Set:
		return e.Commit
	default:
		return ""
	}
}
