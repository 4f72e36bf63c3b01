package history

import (
	"reflect"
	"strconv"
	"strings"
)

// kinds has an event of every kind that this version knows.
var kinds = map[EventKind]Event{
	"started": &Started{}, "measured": &Measured{}, "proposed": &Proposed{}, "decided": &Decided{}, "pushed": &Pushed{},
	"finished": &Finished{},
	"checked":  &Checked{}, "paused": &Paused{}, "resumed": &Resumed{}, "completed": &Completed{}, "set": &Set{},
	"answered": &Answered{},
}

// KindOf is what the ledger calls the kind of an event: the name of its type.
func KindOf(e Event) EventKind { return EventKind(strings.ToLower(reflect.TypeOf(e).Elem().Name())) }

// Of are the events of one kind.
func Of[E Event](events []Event) (list []E) {
	for _, e := range events {
		if e, is := e.(E); is {
			list = append(list, e)
		}
	}
	return list
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
