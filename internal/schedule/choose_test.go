package schedule_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/schedule"
)

var now = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// programFile is a program with one line of frontmatter.
func programFile(name, front string) *program.Program {
	text := "---\n" + front + "\n---\n## Goal\nFast.\n## Target\n`a.go`\n## Evaluation\n```sh\necho 1\n```\n"
	return program.Parse(".autoloop/programs/"+name+".md", []byte(text))
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

func TestMostOverdueWins(t *testing.T) {
	plan := choose(t, schedule.Input{
		Programs: []*program.Program{
			programFile("daily", "schedule: daily"), programFile("hourly", "schedule: hourly"),
			programFile("always", "metric: x"),
		},
		States: map[string][]byte{
			"daily":  stateFile(ago(27 * time.Hour)), // 3 h late
			"hourly": stateFile(ago(6 * time.Hour)),  // 5 h late
			"always": stateFile(ago(4 * time.Hour)),  // 4 h
		},
		Max: 2,
	})
	assert.Equal(t, "hourly", *plan.Selected)
	assert.Equal(t, []string{"daily"}, plan.Deferred, "what is in the matrix is not deferred")
	assert.Equal(t, []string{"hourly", "always"}, plan.Matrix.Program)
	assert.Equal(t, "autoloop/hourly", *plan.HeadBranch)
	assert.False(t, plan.NotDue)
}

func TestNeverRunComesBeforeAllButPending(t *testing.T) {
	programs := []*program.Program{
		programFile("old", "schedule: hourly"), programFile("new", "schedule: monthly"),
		programFile("waiting", "schedule: weekly"),
	}
	states := map[string][]byte{
		"old":     stateFile(ago(1000 * time.Hour)),
		"waiting": stateFile(ago(time.Minute), "Recent Statuses=accepted, pending-ci"),
	}
	plan := choose(t, schedule.Input{Programs: programs, States: states, Max: 3})
	assert.Equal(t, []string{"waiting", "new", "old"}, plan.Matrix.Program)
}

func TestTies(t *testing.T) {
	plan := choose(t, schedule.Input{Programs: []*program.Program{
		programFile("b", "schedule: daily"), programFile("a", "schedule: daily"), programFile("c", "schedule: hourly"),
		programFile("d", `schedule: "0 3 * * *"`), programFile("e", "schedule: every 2 days"),
	}, Max: 5})
	assert.Equal(t, []string{"c", "a", "b", "d", "e"}, plan.Matrix.Program, "the shorter interval, then the name")
}

func TestPlateauIsOverWhenAPersonResumed(t *testing.T) {
	var lines []string
	for i := range 5 {
		lines = append(lines, fmt.Sprintf(`{"event":"decided","iteration":%d,"outcome":"rejected"}`, i+1))
	}
	lines = append(lines, `{"event":"paused","reason":{"kind":"plateau"}}`)
	in := schedule.Input{
		Programs: []*program.Program{programFile("p", "schedule: hourly")},
		States: map[string][]byte{"p": stateFile(ago(9*time.Hour), "Paused=false",
			"Recent Statuses=rejected, rejected, rejected, rejected, rejected")},
		Ledger: func(string) (*history.Log, error) { return history.Parse([]byte(strings.Join(lines, "\n") + "\n")) },
	}
	assert.Equal(t, "p", *choose(t, in).Selected)
}

func TestFutureLastRunIsUnknown(t *testing.T) {
	plan := choose(t, schedule.Input{
		Programs: []*program.Program{programFile("p", "schedule: weekly")},
		States:   map[string][]byte{"p": stateFile("Last Run=2099-01-01")},
	})
	assert.Equal(t, "p", *plan.Selected)
	require.Len(t, plan.Warnings, 1)
	assert.Contains(t, plan.Warnings[0], "in the future")
}

func TestOneBadProgramStopsNoOther(t *testing.T) {
	plan := choose(t, schedule.Input{
		Programs: []*program.Program{
			programFile("bad", "schedule: every 0h"), programFile("good", "schedule: hourly"),
			programFile("broken-state", "schedule: hourly"),
			program.Parse(".autoloop/programs/todo.md", []byte("## Goal\nREPLACE THIS with a goal\n")),
		},
		States: map[string][]byte{"broken-state": []byte("hello\n")},
	})
	assert.Equal(t, "good", *plan.Selected)
	assert.Empty(t, plan.Deferred)
	assert.Equal(t, []string{"todo"}, plan.Unconfigured)
	require.Len(t, plan.Errors, 2)
	assert.Equal(t, "bad", plan.Errors[0].Name)
	assert.Equal(t, 2, plan.Errors[0].Line)
	assert.Equal(t, "broken-state", plan.Errors[1].Name)
}

func TestForced(t *testing.T) {
	in := schedule.Input{
		Programs: []*program.Program{programFile("p", "schedule: weekly"), programFile("bad", "schedule: no")},
		States:   map[string][]byte{"p": stateFile(ago(time.Minute), "Paused=true")}, Now: now, Forced: "p",
	}
	plan, err := schedule.Choose(in)
	require.NoError(t, err)
	assert.Equal(t, "p", *plan.Selected)
	assert.Empty(t, plan.Skipped)
	for name, says := range map[string]string{"nobody": "there are: bad, p", "bad": "has an error"} {
		in.Forced = name
		plan, err := schedule.Choose(in)
		var forced *schedule.ForcedError
		require.ErrorAs(t, err, &forced)
		assert.Contains(t, err.Error(), says)
		assert.Nil(t, plan.Selected)
	}
}

// TestForcedProgramThatRests is selected, with a warning that nothing will come of it.
func TestForcedProgramThatRests(t *testing.T) {
	rest := programFile("p", "metric: x")
	in := schedule.Input{Programs: []*program.Program{rest}, Forced: "p", States: map[string][]byte{
		"p": []byte("## Machine State\n\n| Field | Value |\n|---|---|\n| Paused | true |\n| Pause Reason | holidays |\n"),
	}}
	plan := choose(t, in)
	assert.Equal(t, "p", *plan.Selected)
	assert.Contains(t, strings.Join(plan.Warnings, "\n"), "holidays; go on with `iterate resume p`")
}

func TestPausedStopsEverything(t *testing.T) {
	plan := choose(t, schedule.Input{
		Programs: []*program.Program{programFile("p", "metric: x")},
		Stopped:  "AUTOLOOP_PAUSED is true", Forced: "p",
	})
	assert.Nil(t, plan.Selected)
	assert.Contains(t, plan.Warnings[0], "AUTOLOOP_PAUSED")
}

func TestPlanAsJSONHasEveryName(t *testing.T) {
	text, err := json.Marshal(choose(t, schedule.Input{}))
	require.NoError(t, err)
	var fields map[string]any
	require.NoError(t, json.Unmarshal(text, &fields))
	for _, name := range []string{
		"selected", "selected_file", "selected_issue", "selected_target_metric", "selected_metric_direction",
		"state_file_size_bytes",
		"state_file_max_bytes", "issue_programs", "deferred", "skipped", "unconfigured", "no_programs", "not_due",
		"head_branch", "existing_pr",
		"schema_version", "generated_at", "errors", "warnings", "untrusted", "matrix",
	} {
		assert.Contains(t, fields, name)
	}
	assert.Nil(t, fields["selected"])
	assert.Equal(t, true, fields["no_programs"])
	assert.Equal(t, map[string]any{"program": []any{}}, fields["matrix"])
	assert.InDelta(t, 30720, fields["state_file_max_bytes"], 0)
}

func TestPlateauOfTheTunerIsLonger(t *testing.T) {
	line := `{"event":"decided","iteration":%d,"outcome":"rejected","agent":"tuner"}` + "\n"
	text := ""
	for i := range 49 {
		text += fmt.Sprintf(line, i+1)
	}
	in := schedule.Input{
		Programs: []*program.Program{programFile("p", "schedule: hourly")},
		States: map[string][]byte{"p": stateFile(ago(9*time.Hour),
			"Recent Statuses="+strings.TrimSuffix(strings.Repeat("rejected, ", 10), ", "))},
		Ledger: func(string) (*history.Log, error) { return history.Parse([]byte(text)) },
	}
	assert.NotNil(t, choose(t, in).Selected)
	text += fmt.Sprintf(line, 50)
	plan := choose(t, in)
	require.Len(t, plan.Skipped, 1)
	assert.Contains(t, plan.Skipped[0].Reason, "plateau: the last 50 iterations")
}
