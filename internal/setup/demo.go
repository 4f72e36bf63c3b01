package setup

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/decision/statistics"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/render"
)

// DemoProgram is the program of the demo: the round trip of a courier.
const DemoProgram = "round"

// DemoBest is the shortest trip, in minutes.
const DemoBest = 197

//go:embed all:demo
var demoFiles embed.FS

// DemoRepository writes the program of the demo with all that it needs, and makes
// the first commit.
func DemoRepository(ctx context.Context, dir string, environ []string, now time.Time) error {
	root, err := fs.Sub(demoFiles, "demo")
	if err == nil {
		err = os.CopyFS(dir, root)
	}
	if err != nil {
		return err
	}
	date := now.UTC().Format(time.RFC3339)
	// Nothing else speaks to git.
	environ = slices.DeleteFunc(slices.Clone(environ),
		func(variable string) bool { return strings.HasPrefix(variable, "GIT_") })
	environ = append(environ, "GIT_AUTHOR_DATE="+date, "GIT_COMMITTER_DATE="+date)
	for _, args := range [][]string{
		{"git", "init", "--quiet", "--initial-branch=main"},
		{"git", "add", "--all"},
		{
			"git", "-c", "user.name=Demo", "-c", "user.email=demo@localhost", "-c", "commit.gpgSign=false",
			"-c", "core.hooksPath=/dev/null", "commit", "--quiet", "--message", "Start the demo",
		},
	} {
		if _, err := process.Output(ctx, dir, environ, nil, args...); err != nil {
			return err
		}
	}
	return nil
}

// DemoLines has what the iterations of the demo measured.
type DemoLines struct {
	rides []metric.Value // of what is best, over all iterations
}

// Line says how an iteration of the demo ended, and what decided it.
func (d *DemoLines) Line(r render.Result) string {
	word, why := string(r.Outcome), plain.Clip(decision.Joined(r.Reasons), 160)
	d.rides = append(d.rides, r.Samples.Incumbent...)
	beside, compared := "", r.Metric != nil && len(r.Samples.Incumbent) > 0
	if compared {
		beside = Rounded(*r.Metric) + " minutes beside " + Rounded(statistics.Median(r.Samples.Incumbent))
	}
	switch {
	case r.Outcome == history.Accepted:
		word, why, d.rides = "kept", beside, slices.Clone(r.Samples.Candidate)
	case compared && d.withinSpread(r.Samples):
		word, why = "noise", beside+" is no gain"
	case compared:
		word, why = "worse", beside
	case r.Outcome == history.Rejected:
		word = "refused"
	}
	return fmt.Sprintf("%2d %-8s %s: %s\n", r.Iteration, word, r.Summary, why)
}

// DemoDiff is the lines of a patch that change, each run of them behind the line
// before it.
func DemoDiff(patch string) string {
	var out strings.Builder
	before := ""
	for line := range strings.Lines(patch) {
		if !strings.HasPrefix(line, "+") && !strings.HasPrefix(line, "-") || strings.HasPrefix(line, "+++") ||
			strings.HasPrefix(line, "---") {
			before = line
			continue
		}
		fmt.Fprintf(&out, "            %s            %s", before, line)
		before = ""
	}
	return out.String()
}

// withinSpread reports whether the two sides differ by at most twice what the rides of
// what is best differ among themselves. The trial may have ended after three pairs: three
// rides lie above three others once in twenty times, and differ by more than the spread
// of thirteen once in three hundred.
func (d *DemoLines) withinSpread(s render.Samples) bool {
	if len(s.Candidate) == 0 {
		return false
	}
	spread := slices.MaxFunc(d.rides, metric.Value.Cmp).Float64() - slices.MinFunc(d.rides, metric.Value.Cmp).Float64()
	return math.Abs(statistics.Median(s.Candidate).Float64()-statistics.Median(s.Incumbent).Float64()) <= 2*spread
}

// Rounded is a number without its fraction.
func Rounded(number metric.Value) string {
	return strconv.FormatFloat(number.Float64(), 'f', 0, 64)
}
