package state

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
)

// Status is how an iteration ended, in the words of Recent Statuses.
type Status string

// The statuses of history entries.
const (
	Accepted       Status = "accepted"
	Rejected       Status = "rejected"
	Inconclusive   Status = "inconclusive"
	Failed         Status = "error"
	PendingCI      Status = "pending-ci"
	CIFixExhausted Status = "ci-fix-exhausted"
	Baseline       Status = "baseline"
)

// The bounds of one entry, in runes and items.
const (
	maxText  = 300
	maxNotes = 8
)

// HistoryEntry is one iteration in the history. Its texts may come from anybody: they
// are made harmless and short when they are written.
type HistoryEntry struct {
	Iteration int
	// Baseline marks a measurement without a change: iteration 0, or a new
	// baseline on the way.
	Baseline bool
	Time     time.Time
	// Run is the number of the run of Actions that made it; "" for none.
	Run    string
	Status Status
	Change string
	// Metric is nil when nothing was measured, PreviousBest before the first one.
	Metric, PreviousBest *metric.Value
	// Delta is the signed decimal difference; "" for none.
	Delta         string
	PR            int
	Commit        string
	CIFixAttempts int
	// Notes are single lines: reasons and remarks.
	Notes []string
}

func (s Status) label() string {
	switch s {
	case Accepted:
		return "✅ Accepted"
	case Rejected:
		return "❌ Rejected"
	case Inconclusive:
		return "❔ Inconclusive"
	case Failed:
		return "⚠️ Error"
	case PendingCI:
		return "⏳ Pending CI"
	case CIFixExhausted:
		return "❌ CI fix attempts exhausted"
	case Baseline:
		return "📏 Baseline"
	default:
		return safe(plain.Clip(string(s), 40))
	}
}

// text is the entry as it is written; runs is what the addresses of runs begin with, "" for none.
func (e HistoryEntry) text(runs string) string {
	var out strings.Builder
	e.Iteration = max(e.Iteration, 0)
	e.Baseline = e.Baseline || e.Iteration == 0
	fmt.Fprintf(&out, "### Iteration %d", e.Iteration)
	if e.Baseline && e.Iteration > 0 {
		out.WriteString(" (new baseline)")
	}
	out.WriteString(" — " + e.Time.UTC().Format("2006-01-02 15:04") + " UTC")
	if address := SafeURL(runs + e.Run); runs != "" && e.Run != "" && address != "" {
		out.WriteString(" — [Run](" + address + ")")
	}
	out.WriteString("\n\n")
	status := e.Status
	if status == "" && e.Baseline {
		status = Baseline
	}
	item(&out, "Status", status.label())
	item(&out, "Change", safe(plain.Quote(e.Change, maxText)))
	item(&out, "Metric", e.MetricText())
	if e.PR > 0 {
		item(&out, "Pull request", "#"+strconv.Itoa(e.PR))
	}
	item(&out, "Commit", safe(e.Commit))
	if e.CIFixAttempts > 0 {
		item(&out, "CI fix attempts", strconv.Itoa(e.CIFixAttempts))
	}
	e.notes(&out)
	return out.String()
}

// MetricText is the entry's line of the metric, without its name.
func (e HistoryEntry) MetricText() string {
	text := metric.Text(e.Metric, null)
	var more []string
	if e.PreviousBest != nil {
		more = append(more, "previous best: "+e.PreviousBest.String())
	}
	if e.Delta != "" {
		more = append(more, "delta: "+safe(e.Delta))
	}
	if len(more) == 0 {
		return text
	}
	return fmt.Sprintf("%s (%s)", text, strings.Join(more, ", "))
}

func (e HistoryEntry) notes(out *strings.Builder) {
	var lines []string
	for _, note := range e.Notes {
		if text := safe(plain.Quote(note, maxText)); text != "" {
			lines = append(lines, text)
		}
	}
	if len(lines) > maxNotes {
		lines = append(lines[:maxNotes-1], fmt.Sprintf("… and %d more", len(lines)-maxNotes+1))
	}
	if len(lines) == 1 {
		item(out, "Notes", lines[0])
		return
	}
	if len(lines) > 1 {
		out.WriteString("- **Notes**:\n")
		for _, text := range lines {
			out.WriteString("  - " + text + "\n")
		}
	}
}

func item(out *strings.Builder, name, text string) {
	if text != "" {
		out.WriteString("- **" + name + "**: " + text + "\n")
	}
}

// safe is Inline with pipes escaped, so that the line may also stand in a table.
func safe(text string) string {
	text = plain.Inline(text, maxText)
	var out strings.Builder
	for at := range len(text) {
		if text[at] == '|' && !escaped([]byte(text[:at]), at) {
			out.WriteByte('\\')
		}
		out.WriteByte(text[at])
	}
	return out.String()
}

// SafeURL returns an http address that cannot end a markdown link, or "".
func SafeURL(text string) string {
	if len(text) > 500 {
		return ""
	}
	address, err := url.Parse(strings.TrimSpace(text))
	if err != nil || address.Host == "" || (address.Scheme != "https" && address.Scheme != "http") ||
		address.User != nil {
		return ""
	}
	return strings.NewReplacer("(", "%28", ")", "%29", "<", "%3C", ">", "%3E", "|", "%7C", "@",
		"%40").Replace(address.String())
}
