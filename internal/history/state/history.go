package state

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/metric"
)

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
		kept := e.Baseline
		switch {
		case e.Baseline:
		case e.Status == Accepted:
			accepted++
			kept = true
		case e.Status == Failed:
			failed++
		default:
			rejected++
		}
		from = cmp.Or(from, e.PreviousBest, e.Metric)
		if kept {
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
