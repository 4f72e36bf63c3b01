package state

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/lazyregexp"
)

// What stands between these lines of the Iteration History is ours.
const (
	beginEntries = "<!-- autoloop: the entries up to the end marker are written anew at each iteration; write above " +
		"or below -->"
	endEntries = "<!-- autoloop: end -->"
)

const (
	// detailed is how many entries stay in full, tight how many when the file is above
	// four fifths of its limit.
	detailed, tight = 10, 5
	crowded         = MaxBytes * 4 / 5
)

// entries are ours in the history: data[start:end], the markers included.
type entries struct {
	start, end int
	list       []Written // the newest first
	older      older
}

// Written is an entry as it is written.
type Written struct {
	Iteration int
	Baseline  bool
	Text      string
}

// older counts the iterations whose entries gave way to newer ones, and has the metric
// before the first and after the last of them.
type older struct {
	first, last                int
	accepted, rejected, failed int
	from, to                   string
}

var (
	ownHeading  = lazyregexp.New(`^### Iteration (\d{1,9})( \(new baseline\))? — `)
	olderLine   = lazyregexp.New(`^### Iters (\d{1,9})–(\d{1,9}) — ✅ (\d{1,9}) / ❌ (\d{1,9}) / ⚠️ (\d{1,9})(?: \(metrics ([^ ()→]+)→([^ ()→]+)\))?$`)
	ownStatus   = lazyregexp.New(`(?m)^- \*\*Status\*\*: (.*)$`)
	ownMetric   = lazyregexp.New(`(?m)^- \*\*Metric\*\*: (.*)$`)
	metricWords = lazyregexp.New(`^([+-]?[0-9][^ ]*)(?: \((?:previous best: ([^,)]+))?)?`)
)

// entries reads ours. Without the markers found is false, and they are where ours begin.
func (d *Doc) entries() (own entries, found bool) {
	history := d.ensure(History)
	own.start, own.end = history.bodyStart, history.bodyStart
	body := d.data[history.bodyStart:history.bodyEnd]
	begin := bytes.Index(body, []byte(beginEntries))
	length := bytes.Index(body[max(begin, 0):], []byte(endEntries))
	if begin < 0 || length < 0 {
		return d.place(history), false
	}
	own.start += begin
	own.end = own.start + length + len(endEntries)
	for line := range strings.Lines(string(body[begin+len(beginEntries) : begin+length])) {
		line = strings.TrimRight(line, "\r\n")
		if at := ownHeading().FindStringSubmatch(line); at != nil {
			n, _ := strconv.Atoi(at[1])
			own.list = append(own.list, Written{Iteration: n, Baseline: n == 0 || at[2] != ""})
		} else if at := olderLine().FindStringSubmatch(line); at != nil {
			number := func(i int) int { n, _ := strconv.Atoi(at[i]); return n }
			own.older = older{number(1), number(2), number(3), number(4), number(5), at[6], at[7]}
			break
		}
		if len(own.list) > 0 {
			own.list[len(own.list)-1].Text += line + "\n"
		}
	}
	for i := range own.list {
		own.list[i].Text = strings.TrimRight(own.list[i].Text, "\n") + "\n"
	}
	return own, true
}

// place is where ours begin in a history without them: before the first entry of others,
// or at the end.
func (d *Doc) place(history section) entries {
	if isNothing(strings.TrimSpace(string(d.data[history.bodyStart:history.bodyEnd]))) {
		return entries{start: history.bodyStart, end: history.bodyEnd}
	}
	for at := range linesOf(d.data[history.bodyStart:history.bodyEnd]) {
		if start := history.bodyStart + at.start; at.level > 0 && isEntry(d.data[start:history.bodyStart+at.end]) {
			return entries{start: start, end: start}
		}
	}
	return entries{start: history.bodyEnd, end: history.bodyEnd}
}

// AddEntry puts an entry at the top of ours. One of the same iteration is replaced, so
// that recording twice doubles nothing.
func (d *Doc) AddEntry(e HistoryEntry) {
	own, found := d.entries()
	added := e.Written()
	if at := slices.IndexFunc(own.list, func(o Written) bool {
		return o.Iteration == added.Iteration && o.Baseline == added.Baseline
	}); at >= 0 {
		own.list[at] = added
	} else {
		own.list = slices.Insert(own.list, 0, added)
	}
	d.write(own, found)
}

// write puts ours where they were, or where they begin.
func (d *Doc) write(own entries, there bool) {
	out := beginEntries + "\n\n"
	for _, e := range own.list {
		out += e.Text + "\n"
	}
	if line := own.older.line(); line != "" {
		out += line + "\n\n"
	}
	out += endEntries
	if !there {
		before := bytes.ReplaceAll(d.data[:own.start], []byte("\r\n"), []byte("\n"))
		for !bytes.HasSuffix(before, []byte("\n\n")) {
			before, out = append(before, '\n'), "\n"+out
		}
		out += "\n"
		if own.end < len(d.data) && !isSpace(d.data[own.end]) && d.data[own.end] != '\n' && d.data[own.end] != '\r' {
			out += "\n"
		}
	}
	d.splice(own.start, own.end, strings.ReplaceAll(out, "\n", d.newline()))
}

// Render returns the file with ten entries of ours, five when it is large and none when
// it would not stay under MaxBytes otherwise; one line counts those before. What other
// tools and people wrote stays, and a file that is too large for its sake stays so.
func (d *Doc) Render() []byte {
	for _, step := range []struct{ keep, limit int }{{detailed, crowded}, {tight, MaxBytes}, {0, 0}} {
		shorter := &Doc{data: d.data}
		own, found := shorter.entries()
		if !found {
			break
		}
		if len(own.list) > step.keep {
			for _, e := range slices.Backward(own.list[step.keep:]) {
				own.older.count(e)
			}
			own.list = own.list[:step.keep]
			shorter.write(own, true)
		}
		if len(shorter.data) <= step.limit || step.keep == 0 {
			return slices.Clone(shorter.data)
		}
	}
	return d.Bytes()
}

// line is what is written of them, "" for none.
func (o *older) line() string {
	if o.last == 0 {
		return ""
	}
	line := fmt.Sprintf("### Iters %d–%d — ✅ %d / ❌ %d / ⚠️ %d", o.first, o.last, o.accepted, o.rejected, o.failed)
	if o.from != "" && o.to != "" {
		line += fmt.Sprintf(" (metrics %s→%s)", o.from, o.to)
	}
	return line
}

// count adds an entry that is newer than all before.
func (o *older) count(e Written) {
	if o.last == 0 {
		o.first = e.Iteration
	}
	o.last = max(o.last, e.Iteration)
	group := func(form lazyregexp.Regexp, text string, i int) string {
		if found := form().FindStringSubmatch(text); found != nil {
			return found[i]
		}
		return ""
	}
	status, line := group(ownStatus, e.Text, 1), group(ownMetric, e.Text, 1)
	kept := e.Baseline
	switch {
	case e.Baseline:
	case status == Accepted.label():
		o.accepted++
		kept = true
	case status == Failed.label():
		o.failed++
	default:
		o.rejected++
	}
	value := group(metricWords, line, 1)
	o.from = cmp.Or(o.from, group(metricWords, line, 2), value)
	if kept {
		o.to = cmp.Or(value, o.to)
	}
	o.to = cmp.Or(o.to, o.from)
}

// Entries are ours as they are written, the newest first, and the line that counts the
// older ones; found is false in a history that never had one.
func (d *Doc) Entries() (list []Written, older string, found bool) {
	own, found := (&Doc{data: d.data}).entries()
	return own.list, own.older.line(), found
}

// Older is the line that counts entries, given from the oldest on.
func Older(list []Written) string {
	var o older
	for _, e := range list {
		o.count(e)
	}
	return o.line()
}

// SetPull notes the pull request that an iteration's change went into, when its entry is
// there and names none yet.
func (d *Doc) SetPull(iteration, number int) {
	own, found := d.entries()
	at := slices.IndexFunc(own.list, func(e Written) bool { return e.Iteration == iteration && !e.Baseline })
	if found && at >= 0 && own.list[at].SetPull(number) {
		d.write(own, true)
	}
}

// SetPull notes a pull request in the entry of a commit that names none yet.
func (e *Written) SetPull(number int) bool {
	at := strings.Index(e.Text, "\n- **Commit**: ")
	if at < 0 || number < 1 || strings.Contains(e.Text, "\n- **Pull request**: ") {
		return false
	}
	e.Text = e.Text[:at+1] + "- **Pull request**: #" + strconv.Itoa(number) + e.Text[at:]
	return true
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
