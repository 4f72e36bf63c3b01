package state

import (
	"cmp"
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

// Dropped reports whether an iteration was decided and its change not kept.
func (s Status) Dropped() bool { return s == Rejected || s == Inconclusive }

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

// label is a status as it is written.
func (s Status) label() string {
	words := map[Status]string{
		Accepted: "✅ Accepted", Rejected: "❌ Rejected", Inconclusive: "❔ Inconclusive", Failed: "⚠️ Error",
		PendingCI: "⏳ Pending CI", CIFixExhausted: "❌ CI fix attempts exhausted", Baseline: "📏 Baseline",
	}
	return cmp.Or(words[s], safe(plain.Clip(string(s), 40)))
}

// text is the entry as it is written; runs is what the addresses of runs begin with, "" for none.
func (e HistoryEntry) text(runs string) string {
	e.Iteration = max(e.Iteration, 0)
	out := fmt.Sprintf("### Iteration %d", e.Iteration)
	if e.Baseline && e.Iteration > 0 {
		out += " (new baseline)"
	}
	out += " — " + e.Time.UTC().Format("2006-01-02 15:04") + " UTC"
	if address := SafeURL(runs + e.Run); runs != "" && e.Run != "" && address != "" {
		out += " — [Run](" + address + ")"
	}
	out += "\n\n"
	if e.Status == "" && (e.Baseline || e.Iteration == 0) {
		e.Status = Baseline
	}
	pull, fixes := "", ""
	if e.PR > 0 {
		pull = " #" + strconv.Itoa(e.PR)
	}
	if e.CIFixAttempts > 0 {
		fixes = " " + strconv.Itoa(e.CIFixAttempts)
	}
	for _, item := range [][2]string{
		{"Status", " " + e.Status.label()},
		{"Change", " " + safe(plain.Quote(e.Change, maxText))},
		{"Metric", " " + e.MetricText()},
		{"Pull request", pull},
		{"Commit", " " + safe(e.Commit)},
		{"CI fix attempts", fixes},
		{"Notes", e.notes()},
	} {
		if strings.TrimSpace(item[1]) != "" {
			out += "- **" + item[0] + "**:" + item[1] + "\n"
		}
	}
	return out
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

// notes are a line, or a list of several.
func (e HistoryEntry) notes() string {
	var lines []string
	for _, note := range e.Notes {
		if text := safe(plain.Quote(note, maxText)); text != "" {
			lines = append(lines, text)
		}
	}
	if len(lines) > maxNotes {
		lines = append(lines[:maxNotes-1], fmt.Sprintf("… and %d more", len(lines)-maxNotes+1))
	}
	if len(lines) > 1 {
		return "\n  - " + strings.Join(lines, "\n  - ")
	}
	return " " + strings.Join(lines, "")
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
