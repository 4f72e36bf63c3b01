package lifecycle_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/org/autoloop/internal/github/lifecycle"
)

var phases = []Phase{Idle, Ready, Waiting, Completed, Paused, PausedWaiting}

// TestNext holds every cell by which the loop acts. A column for each of the phases.
func TestNext(t *testing.T) {
	t.Parallel()
	want := map[Event][]Step{
		Due:        {Begin, Rest, AskCI, Rest, Rest, AskCI},
		Gained:     {Open, Open, Open, Open, Rest, Rest},
		Merged:     {Leave, Leave, Keep, Leave, Leave, Keep},
		MergedInto: {Stay, Stay, Stay, Stay, Stay, Stay},
		Closed:     {Pause, Pause, Pause, Pause, Pause, Pause},
		Reopened:   {GoOn, GoOn, GoOn, GoOn, GoOn, GoOn},
		Moved:      {Drop, Drop, Drop, Drop, Drop, Drop},
		Green:      {Keep, Keep, Keep, Keep, Keep, Keep},
		Absent:     {Keep, Keep, Keep, Keep, Keep, Keep},
		Red:        {Fix, Fix, Fix, Fix, Fix, Wait},
		Stuck:      {Drop, Drop, Drop, Drop, Drop, Drop},
		Pending:    {Wait, Wait, Wait, Wait, Wait, Wait},
		Silent:     {Pause, Pause, Pause, Pause, Pause, Pause},
	}
	events := 0
	for _, row := range Table {
		if row.Event == None {
			continue
		}
		events++
		require.Contains(t, want, row.Event)
		for i, phase := range phases {
			assert.Equal(t, want[row.Event][i], Next(row.Event, phase), "%s, %s", row.Event, phase)
		}
	}
	assert.Len(t, want, events)
}
