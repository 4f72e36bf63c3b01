package schedule_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/schedule"
	"github.com/org/autoloop/tests/long"
)

// fate is what becomes of a program when it is selected.
type fate int

const (
	runs        fate = iota // an iteration is recorded
	refused                 // the scheduler can see that it cannot run
	failsToRun              // an iteration is recorded as an error, the third pauses
	paused                  // by its state
	unreadable              // its state is broken
	contradicts             // its text and its frontmatter
)

// TestEverybodyGetsTheirTurn lets scheduler and iterate take turns over random
// sets of programs: while a program is due and can run, no other is selected
// twice before it.
func TestEverybodyGetsTheirTurn(t *testing.T) {
	long.Only(t, long.Simulations)
	random := rand.New(rand.NewPCG(7, 7)) //nolint:gosec // chance that can be repeated
	for set := range 400 {
		count := 2 + random.IntN(7)
		fates, states := map[string]fate{}, map[string][]byte{}
		errs, fronts := map[string]int{}, map[string]string{}
		for i := range count {
			name := fmt.Sprintf("p%d", i)
			fates[name] = fate(random.IntN(6))
			fronts[name] = []string{
				"metric: x", "schedule: every 1m", "schedule: hourly",
				"agent: tuner",
			}[random.IntN(4)]
			if random.IntN(2) == 0 {
				states[name] = stateFile(ago(time.Duration(random.IntN(5000)) * time.Minute))
			}
			switch fates[name] { //nolint:exhaustive // the others have no state of their own
			case paused:
				states[name] = stateFile("Paused=true")
			case unreadable:
				states[name] = []byte("hello\n")
			}
		}
		since := map[string]int{} // selections of others since a program became due
		at := now
		for round := range 5 * count {
			var programs []*program.Program
			for i := range count {
				name := fmt.Sprintf("p%d", i)
				text := ""
				if fates[name] == contradicts {
					text = "Lower is better.\n"
				}
				programs = append(programs, program.Parse(".autoloop/programs/"+name+".md",
					[]byte("---\n"+fronts[name]+"\n---\n"+text)))
			}
			plan := choose(t, schedule.Input{
				Programs: programs, States: states, Now: at,
				Refusals: func(s *schedule.Standing) []program.Problem {
					if fates[s.Program.Name] == refused {
						return []program.Problem{{Message: "no target"}}
					}
					return nil
				},
			})
			if plan.Selected == nil {
				at = at.Add(10 * time.Minute)
				continue
			}
			name := *plan.Selected
			assert.Contains(t, []fate{runs, failsToRun}, fates[name], "set %d, round %d: %s", set, round, name)
			for _, other := range plan.Deferred {
				if fates[other] == runs {
					since[other]++
					assert.LessOrEqual(t, since[other], 2*count, "set %d: %s waits while others run", set, other)
				}
			}
			since[name] = 0
			row := []string{"Last Run=" + at.Format(time.RFC3339)}
			if fates[name] == failsToRun {
				if errs[name]++; errs[name] >= 3 {
					row = append(row, "Paused=true")
				}
			}
			states[name] = stateFile(row...)
			at = at.Add(time.Duration(1+random.IntN(20)) * time.Minute)
		}
	}
}
