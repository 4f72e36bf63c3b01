package state

import (
	"bytes"
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/org/autoloop/internal/lazyregexp"
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
	Time      time.Time
	// Run is the number of the run of Actions that made it; "" for none.
	Run string
	// Status is Baseline for a measurement without a change: iteration 0, or a new
	// baseline on the way.
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
	if e.Status == Baseline && e.Iteration > 0 {
		out += " (new baseline)"
	}
	out += " — " + e.Time.UTC().Format("2006-01-02 15:04") + " UTC"
	if address := SafeURL(runs + e.Run); runs != "" && e.Run != "" && address != "" {
		out += " — [Run](" + address + ")"
	}
	out += "\n\n"
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

// What stands between these lines of the Iteration History is ours.
const (
	beginEntries = "<!-- autoloop: the entries up to the end marker are written anew at each iteration; write above " +
		"or below -->"
	endEntries = "<!-- autoloop: end -->"
)

// detailed is how many entries stay in full where they fit.
const detailed = 10

// SetEntries makes Render write the entries of the history anew: these, the oldest first. runs is
// what the addresses of runs begin with, the file's own when it is "".
func (d *Doc) SetEntries(list []HistoryEntry, runs string) { d.entries, d.runs = list, runs }

// Render returns the file with ten entries of ours, or fewer where it would not stay under MaxBytes
// otherwise; one line counts those before. What other
// tools and people wrote stays, and a file that is too large for its sake stays so.
func (d *Doc) Render() []byte {
	written := &Doc{data: d.data}
	for keep := detailed; keep >= 0 && len(d.entries) > 0; keep-- {
		if written.write(d.entries, keep, d.runs); len(written.data) <= MaxBytes {
			break
		}
	}
	return written.Bytes()
}

// between is what stands between the markers: the newest entries, and the line of those before.
func between(list []HistoryEntry, keep int, runs string) string {
	older := max(len(list)-keep, 0)
	text := "\n\n"
	for _, e := range slices.Backward(list[older:]) {
		text += e.text(runs) + "\n"
	}
	if line := count(list[:older]); line != "" {
		text += line + "\n\n"
	}
	return text
}

// count says how many iterations there are, and the metric before the first and after the last.
func count(list []HistoryEntry) string {
	first := slices.IndexFunc(list, func(e HistoryEntry) bool { return e.Iteration > 0 })
	if first < 0 {
		return ""
	}
	var accepted, rejected, failed int
	var from, to *metric.Value
	for _, e := range list {
		switch e.Status {
		case Baseline:
		case Accepted:
			accepted++
		case Failed:
			failed++
		default:
			rejected++
		}
		from = cmp.Or(from, e.PreviousBest, e.Metric)
		if e.Status == Baseline || e.Status == Accepted {
			to = cmp.Or(e.Metric, to)
		}
		to = cmp.Or(to, from)
	}
	line := fmt.Sprintf("### Iters %d–%d — ✅ %d / ❌ %d / ⚠️ %d", list[first].Iteration,
		list[len(list)-1].Iteration, accepted, rejected, failed)
	if from != nil && to != nil {
		line += fmt.Sprintf(" (metrics %s→%s)", from, to)
	}
	return line
}

// own is where ours are in the history, the markers included. Without markers found is false, and
// they begin before the first entry of others, or at the end.
func (d *Doc) own() (start, end int, found bool) {
	history := d.ensure(History)
	start, end = history.bodyStart, history.bodyEnd
	body := d.data[start:end]
	begin := bytes.Index(body, []byte(beginEntries))
	length := bytes.Index(body[max(begin, 0):], []byte(endEntries))
	if begin >= 0 && length >= 0 {
		return start + begin, start + begin + length + len(endEntries), true
	}
	if isNothing(strings.TrimSpace(string(body))) {
		return start, end, false
	}
	for at := range linesOf(body) {
		if at.level > 0 && isEntry(body[at.start:at.end]) {
			return start + at.start, start + at.start, false
		}
	}
	return end, end, false
}

// write puts entries between the markers, in their place.
func (d *Doc) write(list []HistoryEntry, keep int, runs string) {
	start, end, there := d.own()
	out := beginEntries + between(list, keep, cmp.Or(runs, runsOf(d.data[start:end]))) + endEntries
	if !there {
		before := bytes.ReplaceAll(d.data[:start], []byte("\r\n"), []byte("\n"))
		for !bytes.HasSuffix(before, []byte("\n\n")) {
			before, out = append(before, '\n'), "\n"+out
		}
		out += "\n"
		if end < len(d.data) && !isSpace(d.data[end]) && d.data[end] != '\n' && d.data[end] != '\r' {
			out += "\n"
		}
	}
	d.splice(start, end, out)
}

var runLink = lazyregexp.New(`\[Run\]\((\S+/actions/runs/)\d+\)`)

// runsOf is what the addresses of runs begin with that these entries have.
func runsOf(entries []byte) string {
	if link := runLink().FindSubmatch(entries); link != nil {
		return string(link[1])
	}
	return ""
}

// Entries are what stands between our markers, and what would when these were written; found is
// false in a history that never had any.
func (d *Doc) Entries(list []HistoryEntry) (is, want string, found bool) {
	d = &Doc{data: d.data}
	start, end, found := d.own()
	is = strings.ReplaceAll(string(d.data[start:end]), "\r\n", "\n")
	keep := min(strings.Count(is, "\n### Iteration "), detailed)
	return is, beginEntries + between(list, keep, runsOf(d.data[start:end])) + endEntries, found
}

// isEntry reports whether a heading is that of an entry, or of a range of them, in a
// history that others wrote.
func isEntry(text []byte) bool {
	words := strings.Fields(words(text))
	if len(words) < 2 || !slices.Contains([]string{"iteration", "iter", "iterations", "iters"}, words[0]) {
		return false
	}
	n, err := strconv.Atoi(words[1])
	return err == nil && n <= maxCount
}
