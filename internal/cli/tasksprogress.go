package cli

import (
	"fmt"
	"strings"

	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/tasks/taskrun"
)

// taskProgress shows how far a comparison is: on a terminal one line with a
// bar, drawn again and again with the time since the last run was finished,
// elsewhere a line for each finished run.
type taskProgress struct {
	display

	text string
}

func newTaskProgress(env Env) *taskProgress {
	t := &taskProgress{display: display{out: env.Stderr, now: env.Now}}
	t.liveLine = newLiveLine(env, t.line)
	return t
}

// Show shows the state after a run.
func (t *taskProgress) Show(p taskrun.Progress) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.liveLine == nil {
		fmt.Fprintln(t.out, taskLine(p))
		return
	}
	t.text, t.begun = bar(p.Done, p.Total)+" "+taskLine(p), t.now()
}

func (t *taskProgress) line(sign string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.text == "" {
		return ""
	}
	return fmt.Sprintf("%s (%ds) %s", sign, t.seconds(), t.text)
}

// taskLine says in a line how far a comparison is.
func taskLine(p taskrun.Progress) string {
	line := fmt.Sprintf("%d/%d runs", p.Done, p.Total)
	if p.Reused > 0 {
		line += fmt.Sprintf(", %d kept from before", p.Reused)
	}
	if p.ToJudge > 0 {
		line += fmt.Sprintf(", %d/%d judged", p.Judged, p.ToJudge)
	}
	line += spentSoFar(p)
	if p.Task == "" {
		return line
	}
	line += fmt.Sprintf(": %s, %s: %d of %d checks passed", plain.Short(p.Task, liveWidth), p.Side, p.Passed, p.Checks)
	if p.Failure != "" {
		line += " (" + plain.Short(p.Failure, liveWidth) + ")"
	}
	return line
}

// spentSoFar says what the runs of this comparison have cost.
func spentSoFar(p taskrun.Progress) string {
	var parts []string
	if p.USD.Sign() > 0 {
		parts = append(parts, fmt.Sprintf("%.4f USD", p.USD.Float64()))
	}
	if p.Tokens > 0 {
		parts = append(parts, fmt.Sprintf("%d tokens", p.Tokens))
	}
	if p.Unknown > 0 && len(parts) > 0 {
		parts = append(parts, fmt.Sprintf("%d runs of unknown cost", p.Unknown))
	}
	if len(parts) == 0 {
		return ""
	}
	return ", " + strings.Join(parts, ", ")
}

// bar draws the share of done.
func bar(done, total int) string {
	const width = 20
	full := 0
	if total > 0 {
		full = width * done / total
	}
	return "[" + strings.Repeat("█", full) + strings.Repeat("░", width-full) + "]"
}
