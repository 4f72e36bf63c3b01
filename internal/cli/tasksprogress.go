package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/org/autoloop/internal/compare"
	"github.com/org/autoloop/internal/report"
)

// taskProgress shows how far a comparison is: on a terminal one line with a
// bar, elsewhere a line for each finished run.
type taskProgress struct {
	out  io.Writer
	live bool
}

func newTaskProgress(env Env) *taskProgress {
	return &taskProgress{out: env.Stderr, live: env.Terminal && env.Getenv("TERM") != "dumb"}
}

// Show shows the state after a run.
func (t *taskProgress) Show(p compare.Progress) {
	last := ""
	if p.Task != "" {
		last = fmt.Sprintf("%s, %s: %d of %d checks passed", p.Task, p.Side, p.Passed, p.Checks)
	}
	if p.Failure != "" {
		last += " (" + p.Failure + ")"
	}
	line := fmt.Sprintf("%d/%d runs", p.Done, p.Total)
	if p.Reused > 0 {
		line += fmt.Sprintf(", %d kept from before", p.Reused)
	}
	line += spentSoFar(p)
	if last != "" {
		line += ": " + report.Plain(last, liveWidth)
	}
	if t.live {
		fmt.Fprintf(t.out, "\r\x1b[K%s", report.Clip(bar(p.Done, p.Total)+" "+line, liveWidth))
		return
	}
	fmt.Fprintln(t.out, line)
}

// Close leaves an empty line.
func (t *taskProgress) Close() {
	if t.live {
		fmt.Fprint(t.out, "\r\x1b[K")
	}
}

// spentSoFar says what the runs of this comparison have cost.
func spentSoFar(p compare.Progress) string {
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
