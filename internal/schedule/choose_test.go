package schedule_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/org/autoloop/tests/testrepo"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/github/api"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/schedule"
	"github.com/org/autoloop/tests/golden"
)

var now = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// programFile is a program with one line of frontmatter.
func programFile(name, front string) *program.Program {
	text := "---\n" + front + "\n---\n## Goal\nFast.\n## Target\n`a.go`\n## Evaluation\n```sh\necho 1\n```\n"
	return program.Parse(".autoloop/programs/"+name+".md", []byte(text))
}

// programFiles are programs, by names that their line of frontmatter follows.
func programFiles(pairs ...string) (list []*program.Program) {
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, programFile(pairs[i], pairs[i+1]))
	}
	return list
}

// stateFile is a Machine State with rows such as "Last Run=…".
func stateFile(rows ...string) []byte {
	text := "## ⚙️ Machine State\n\n| Field | Value |\n|---|---|\n"
	for _, row := range rows {
		field, value, _ := strings.Cut(row, "=")
		text += fmt.Sprintf("| %s | %s |\n", field, value)
	}
	return []byte(text)
}

func ago(d time.Duration) string { return "Last Run=" + now.Add(-d).Format(time.RFC3339) }

func choose(t *testing.T, in schedule.Input) *schedule.Plan {
	t.Helper()
	if in.Now.IsZero() {
		in.Now = now
	}
	plan, err := schedule.Choose(in)
	require.NoError(t, err)
	return plan
}

// ledgerOf is a ledger of these lines for the first program, and none for the others.
func ledgerOf(lines ...string) func(string) (*history.Log, error) {
	return func(name string) (*history.Log, error) {
		if name > "p" {
			return nil, nil
		}
		return testrepo.Ledger([]byte(strings.Join(lines, "\n") + "\n"))
	}
}

// rejections are so many rejected iterations of an agent.
func rejections(count int, agent string) (lines []string) {
	for i := range count {
		lines = append(lines,
			fmt.Sprintf(`{"event":"decided","iteration":%d,"outcome":"rejected","agent":%q}`, i+1, agent))
	}
	return lines
}

// TestPlans: a plan, as autoloop.json has it, has its line in testdata, and why a program that
// was asked for by name does not run.
func TestPlans(t *testing.T) {
	t.Parallel()
	const always, hourly = "metric: x", "schedule: hourly"
	const dropped = "Recent Statuses=rejected, rejected, rejected, rejected, rejected"
	type states = map[string][]byte
	five := rejections(5, "")
	started := `{"event":"started","run_id":"r1","iteration":1,"time":"2026-03-04T11:30:00Z","lease":{"host":"h",` +
		`"pid":1,"until":"2026-03-04T12:30:00Z"}}`
	alive := func(history.Lease) bool { return true }
	two, ran := programFiles(
		"a",
		always,
		"q",
		always,
	), states{
		"a": stateFile(ago(50 * 60e9)),
		"q": stateFile(ago(10 * 60e9)),
	}
	weekly := schedule.Input{
		Programs: programFiles("p", "schedule: weekly", "bad", "schedule: no"),
		States:   states{"p": stateFile(ago(time.Minute), "Paused=true", "Pause Reason=holidays")},
	}
	forced := func(name string) schedule.Input {
		in := weekly
		in.Forced = name
		return in
	}
	targets := ledgerOf(`{"event":"set","key":"target-metric-was","value":"5"}`,
		`{"event":"set","key":"target-metric","value":"6"}`)
	issues := schedule.Discover(nil, []api.Issue{
		issue(4, "Speed"), {Number: 5, Title: "Bad", Body: "---\nschedule: never\n---\n"},
	}, nil, nil)
	for name, in := range map[string]schedule.Input{
		"no program": {},
		"the most overdue": {
			Programs: programFiles("daily", "schedule: daily", "hourly", hourly, "always", always),
			States: states{ // 3, 5 and 4 hours late
				"daily": stateFile(ago(27 * time.Hour)), "hourly": stateFile(ago(6 * time.Hour)),
				"always": stateFile(ago(4 * time.Hour)),
			},
			Max: 2,
		},
		"who never ran before all but who waits for CI": {
			Programs: programFiles("old", hourly, "new", "schedule: monthly", "waiting", "schedule: weekly"),
			States: states{
				"old":     stateFile(ago(1000 * time.Hour)),
				"waiting": stateFile(ago(time.Minute), "Recent Statuses=accepted, pending-ci"),
			},
			Max: 3,
		},
		"ties by the shorter interval, then the name": {
			Programs: programFiles("b", "schedule: daily", "a", "schedule: daily", "c", hourly,
				"d", `schedule: "0 3 * * *"`, "e", "schedule: every 2 days"),
			Max: 5,
		},
		"a plateau that a person resumed": {
			Programs: programFiles("p", hourly),
			States:   states{"p": stateFile(ago(9*time.Hour), "Paused=false", dropped)},
			Ledger:   ledgerOf(append(five, `{"event":"paused","reason":{"kind":"plateau"}}`)...),
		},
		"a last run in the future": {
			Programs: programFiles("p", "schedule: weekly"), States: states{"p": stateFile("Last Run=2099-01-01")},
		},
		"one that is wrong stops no other": {
			Programs: append(programFiles("bad", "schedule: every 0h", "good", hourly, "broken-state", hourly),
				program.Parse(".autoloop/programs/todo.md", []byte("## Goal\nREPLACE THIS with a goal\n"))),
			States: states{"broken-state": []byte("hello\n")},
		},
		"forced though it rests": forced("p"),
		"forced and unknown":     forced("nobody"),
		"forced and wrong":       forced("bad"),
		"stopped, and forced":    {Programs: two, Stopped: "AUTOLOOP_PAUSED is true", Forced: "q"},
		"one is forced":          {Programs: two, Forced: "q"},
		"the tuner has patience": {
			Programs: programFiles("p", hourly), States: states{"p": stateFile(ago(9*time.Hour), dropped)},
			Ledger: ledgerOf(rejections(49, "tuner")...),
		},
		"a plateau of the tuner": {
			Programs: programFiles("p", hourly), States: states{"p": stateFile(ago(9*time.Hour), dropped)},
			Ledger: ledgerOf(rejections(50, "tuner")...),
		},
		"states that are badly stored": {
			Programs: programFiles("gone", always, "large", always, "odd", always),
			States: states{
				"large": append(stateFile(ago(time.Hour)), strings.Repeat("- mine\n", 6000)...),
				"odd":   stateFile("Best Metric=85%"),
			},
			Unreadable: map[string]error{"gone": errors.New("it is a directory")},
		},
		"a state of the branch": {
			Programs: programFiles("p", always), States: states{"p": stateFile("Best Metric=tall")},
			Branch: "memory/autoloop",
		},
		"a run works on one": {Programs: two, States: ran, Ledger: ledgerOf(started), Alive: alive},
		"a run that is gone": {
			Programs: two, States: ran, Ledger: ledgerOf(started),
			Alive: func(history.Lease) bool { return false },
		},
		"a run whose time is over": {
			Programs: two, States: ran, Ledger: ledgerOf(started), Alive: alive, Now: now.Add(31 * 60e9),
		},
		"a ledger that cannot be read": {Programs: two, States: ran, Ledger: ledgerOf("hello"), Alive: alive},
		"a target that a person set": {
			Programs: programFiles("p", "target-metric: 5"), States: states{"p": stateFile("Best Metric=7")},
			Ledger: targets,
		},
		"a target of the file since then": {
			Programs: programFiles("p", "target-metric: 4"), States: states{"p": stateFile("Best Metric=7")},
			Ledger: targets,
		},
		"programs of issues": {Programs: issues.Programs, Issues: issues},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if in.Now.IsZero() {
				in.Now = now
			}
			plan, err := schedule.Choose(in)
			var of *schedule.ForcedError
			assert.Equal(t, err != nil, errors.As(err, &of))
			text, written := json.Marshal(plan)
			require.NoError(t, written)
			golden.Line(t, strings.TrimSuffix(fmt.Sprintf("%s %v", text, err), " <nil>"))
		})
	}
}
