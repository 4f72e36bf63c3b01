package state

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/plain"
)

const (
	// detailed is how many entries stay in full, tight how many when the file
	// is above four fifths of its limit.
	detailed, tight = 10, 5
	crowded         = MaxBytes * 4 / 5
	// span is how many iterations one range covers before the next begins.
	span = 50
	// maxRanges is how many ranges there are before the oldest are merged.
	maxRanges = 10
	// maxSummary bounds the words of a range, in runes.
	maxSummary = 240
)

// Render returns the file with older history folded: beyond ten entries, five
// when the file is large, and fewer when it would not stay under MaxBytes.
// The table, the sections of people and entries that others wrote or changed are
// never folded; a file that is too large for their sake stays so.
func (d *Doc) Render() []byte {
	for _, step := range []struct {
		fold
		limit int
	}{
		{fold{keep: detailed, ranges: maxRanges, summary: maxSummary}, crowded},
		{fold{keep: tight, ranges: maxRanges, summary: maxSummary}, MaxBytes},
		{fold{keep: 3, ranges: maxRanges, summary: maxSummary}, MaxBytes},
		{fold{keep: 1, ranges: 4, summary: maxSummary}, MaxBytes},
		{fold{keep: 1, ranges: 1, summary: 80}, MaxBytes},
	} {
		folded := &Doc{data: d.data, adopted: d.adopted, said: d.said}
		folded.fold(step.fold)
		if len(folded.data) <= step.limit {
			return slices.Clone(folded.data)
		}
	}
	last := &Doc{data: d.data, adopted: d.adopted, said: d.said}
	last.fold(fold{keep: 0, ranges: 1})
	return slices.Clone(last.data)
}

// fold says how far to go.
type fold struct {
	// keep is how many entries stay, ranges how many ranges, summary how many
	// runes of a range's words.
	keep, ranges, summary int
}

type folded struct {
	first, last              int
	accepted, rejected, fail int
	from, to                 string
	summary                  string
}

func (d *Doc) fold(how fold) {
	history, ok := d.find(History)
	if !ok {
		return
	}
	list, _ := d.blocks(history)
	ranges := map[int]folded{}
	var all []folded
	var kept, entries []int
	for i, b := range list {
		text := string(d.data[b.start:b.end])
		if r, ours := readRange(text); ours && (d.adopted == 0 || r.last > d.adopted) {
			ranges[i] = r
			all = append(all, r)
		} else if b.kind == entryBlock {
			entries = append(entries, i)
		}
	}
	drop := d.oldest(list, entries, how.keep)
	if len(drop) == 0 && len(ranges) <= how.ranges && how.summary >= maxSummary {
		return
	}
	for i, b := range list {
		if _, ours := ranges[i]; !ours && b.kind != prose && !slices.Contains(drop, i) {
			kept = append(kept, b.first)
		}
	}
	d.rewrite(history, list, func(i int) bool {
		_, ours := ranges[i]
		return ours || slices.Contains(drop, i)
	}, merged(all, d.entries(list, drop), kept, how.ranges), how.summary)
}

// oldest returns those of the entries beyond the keep newest that we wrote, the
// newest first. What a person or another tool wrote, or changed, stays.
func (d *Doc) oldest(list []block, entries []int, keep int) []int {
	slices.SortStableFunc(entries, func(a, b int) int { return list[b].last - list[a].last })
	var drop []int
	for _, i := range entries[min(keep, len(entries)):] {
		if d.wrote(list[i]) {
			drop = append(drop, i)
		}
	}
	return drop
}

var (
	ownHeading = lazyregexp.New(`^### Iteration \d+( \(new baseline\))? — \d{4}-\d\d-\d\d \d\d:\d\d UTC( — \[Run\]\([^)]*\))?$`)
	wordsLine  = lazyregexp.New(`^(- \*\*(Change|Notes)\*\*:|  - )`)
	ownLine    = lazyregexp.New(`^(- \*\*(Status|Change|Metric|Pull request|Commit|CI fix attempts|Notes)\*\*:.*|  - .*)?$`)
)

// wrote reports whether an entry is one that we wrote, as we wrote it: it is from
// after the adoption, has our form, and says what is on record. When nothing is on
// record its form decides.
func (d *Doc) wrote(b block) bool {
	text := string(d.data[b.start:b.end])
	if d.adopted > 0 && b.last <= d.adopted || !ownEntry(text) {
		return false
	}
	if d.said == nil || b.baseline {
		return true
	}
	var said []string
	for _, e := range d.said[b.first] {
		said = append(said, strings.Split(e.render(), "\n")...)
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if wordsLine().MatchString(line) && !slices.Contains(said, line) {
			return false
		}
	}
	return true
}

// Adopted says that other tools wrote the history up to an iteration.
func (d *Doc) Adopted(iteration int) { d.adopted = iteration }

// Said adds what is on record of an iteration: of its entries, one with other words
// was changed by a person.
func (d *Doc) Said(e HistoryEntry) {
	if d.said == nil {
		d.said = map[int][]HistoryEntry{}
	}
	d.said[e.Iteration] = append(d.said[e.Iteration], e)
}

// ownEntry reports whether an entry has the form in which entries are written
// here, and nothing else in it.
func ownEntry(text string) bool {
	first := true
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if first && !ownHeading().MatchString(line) || !first && !ownLine().MatchString(line) {
			return false
		}
		first = false
	}
	return true
}

// entries reads what a range keeps of each entry, oldest first.
func (d *Doc) entries(list []block, which []int) []folded {
	out := make([]folded, 0, len(which))
	for _, i := range slices.Backward(which) {
		b := list[i]
		out = append(out, readEntry(b.first, b.baseline, string(d.data[b.start:b.end])))
	}
	return out
}

// merged puts entries into ranges, newest range first. A range does not reach over
// an iteration whose entry is kept, while there are few.
func merged(ranges, entries []folded, kept []int, most int) []folded {
	all := slices.Concat(ranges, entries)
	slices.SortStableFunc(all, func(a, b folded) int {
		if a.first != b.first {
			return a.first - b.first
		}
		return a.last - b.last
	})
	isRange := func(r folded) bool { return r.last-r.first+1 >= span }
	apart := func(a, b folded) bool {
		return slices.ContainsFunc(kept, func(n int) bool { return a.last < n && n < b.first })
	}
	var out []folded
	for _, r := range all {
		last := len(out) - 1
		if last >= 0 && (r.first <= out[last].last || !isRange(out[last]) && r.last-out[last].first < span && !apart(out[last], r)) {
			out[last] = out[last].with(r)
			continue
		}
		out = append(out, r)
	}
	for len(out) > max(most, 1) {
		out[1] = out[0].with(out[1])
		out = out[1:]
	}
	slices.Reverse(out)
	return out
}

// with returns the range that covers both; next is the newer.
func (r folded) with(next folded) folded {
	r.first, r.last = min(r.first, next.first), max(r.last, next.last)
	r.accepted += next.accepted
	r.rejected += next.rejected
	r.fail += next.fail
	r.from, r.to = cmp.Or(r.from, next.from), cmp.Or(next.to, r.to)
	switch {
	case r.summary == "":
		r.summary = next.summary
	case next.summary != "":
		r.summary = next.summary + "; " + r.summary
	}
	return r
}

func (r folded) render(summary int) string {
	text := fmt.Sprintf("### Iters %d–%d", r.first, r.last)
	if r.first == r.last {
		text = fmt.Sprintf("### Iter %d", r.first)
	}
	text += fmt.Sprintf(" — ✅ %d / ❌ %d", r.accepted, r.rejected)
	if r.fail > 0 {
		text += fmt.Sprintf(" / ⚠️ %d", r.fail)
	}
	if r.from != "" && r.to != "" {
		text += fmt.Sprintf(" (metrics %s→%s)", r.from, r.to)
	}
	if words := plain.Clip(r.summary, summary); words != "" {
		text += ": " + words
	}
	return text
}

var rangeForm = lazyregexp.New(`^#+ Iters? (\d{1,9})(?:–(\d{1,9}))? — ✅ (\d{1,9}) / ❌ (\d{1,9})(?: / ⚠️ (\d{1,9}))?(?: \(metrics ([^ ()→]+)→([^ ()→]+)\))?(?:: (.*))?$`)

// readRange reads a range that we wrote. Others are left as they are.
func readRange(text string) (folded, bool) {
	found := rangeForm().FindStringSubmatch(strings.TrimSpace(text))
	if found == nil {
		return folded{}, false
	}
	number := func(i int) int { n, _ := strconv.Atoi(found[i]); return n }
	if found[2] == "" {
		found[2] = found[1]
	}
	r := folded{
		first: number(1), last: number(2), accepted: number(3), rejected: number(4), fail: number(5),
		from: found[6], to: found[7], summary: found[8],
	}
	return r, r.first <= r.last
}

var (
	statusLine = lazyregexp.New(`(?im)^\s*[-*]\s*\**status\**:?\**:?\s*(.*)$`)
	changeLine = lazyregexp.New(`(?im)^\s*[-*]\s*\**change\**:?\**:?\s*(.*?)\s*$`)
	metricLine = lazyregexp.New(`(?im)^\s*[-*]\s*\**metric\**:?\**:?\s*(\S+)(?:.*?previous best:\s*([^,)\s]+))?`)
	number     = lazyregexp.New(`^[+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?$`)
)

// readEntry reads what a range keeps of an entry, tolerantly.
func readEntry(iteration int, baseline bool, text string) folded {
	r := folded{first: iteration, last: iteration}
	status := text
	if found := statusLine().FindStringSubmatch(text); found != nil {
		status = found[1]
	}
	lower := strings.ToLower(status)
	accepted := false
	switch {
	case baseline:
		accepted = true
	case strings.Contains(status, "✅") || strings.Contains(lower, "accepted"):
		accepted = true
		r.accepted = 1
	case strings.Contains(status, "❌") || strings.Contains(lower, "rejected") || strings.Contains(lower, "inconclusive"):
		r.rejected = 1
	case strings.Contains(status, "⚠") || strings.Contains(lower, "error"):
		r.fail = 1
	}
	if found := metricLine().FindStringSubmatch(text); found != nil {
		if number().MatchString(found[2]) {
			r.from, r.to = found[2], found[2]
		}
		if accepted && number().MatchString(found[1]) {
			r.to = found[1]
			r.from = cmp.Or(r.from, r.to)
		}
	}
	if found := changeLine().FindStringSubmatch(text); found != nil && r.accepted == 1 {
		r.summary = plain.Clip(strings.TrimSpace(found[1]), 80)
	}
	return r
}

// rewrite leaves out the blocks that were folded, and puts each range before the
// first block that stays and is older. What stays keeps its bytes.
func (d *Doc) rewrite(history section, list []block, gone func(int) bool, ranges []folded, summary int) {
	if len(list) == 0 {
		return
	}
	newline := d.newline()
	var out []byte
	separate := func() {
		for len(out) > 0 && !blankEnd(out) {
			out = append(out, newline...)
		}
	}
	insert := func(until func(folded) bool) {
		for len(ranges) > 0 && until(ranges[0]) {
			separate()
			out = append(append(out, ranges[0].render(summary)...), newline...)
			out = append(out, newline...)
			ranges = ranges[1:]
		}
	}
	last := -1 // the last block that is no prose and stays
	for i, b := range list {
		if !gone(i) && b.kind != prose {
			last = i
		}
	}
	for i, b := range list {
		if gone(i) {
			continue
		}
		if b.kind != prose {
			insert(func(r folded) bool { return r.first > b.last })
		} else if i > last {
			insert(func(folded) bool { return true })
		}
		out = append(out, d.data[b.start:b.end]...)
	}
	insert(func(folded) bool { return true })
	if end := history.bodyEnd; d.data[end-1] == '\n' {
		for len(out) > 0 && blankEnd(out) {
			out = bytes.TrimSuffix(bytes.TrimSuffix(out, []byte("\n")), []byte("\r"))
		}
		if len(out) > 0 && out[len(out)-1] != '\n' {
			out = append(out, newline...)
		}
	} else {
		out = bytes.TrimRight(out, "\r\n")
	}
	d.splice(list[0].start, history.bodyEnd, string(out))
}

func blankEnd(text []byte) bool {
	rest, ended := bytes.CutSuffix(text, []byte("\n"))
	return ended && bytes.HasSuffix(bytes.TrimSuffix(rest, []byte("\r")), []byte("\n"))
}
