package state

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

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
// The table and the sections of people are never folded; a file that is too
// large for their sake stays so.
func (d *Doc) Render() []byte {
	for _, step := range []struct {
		fold
		limit int
	}{
		{fold{keep: detailed, ranges: maxRanges, summary: maxSummary}, crowded},
		{fold{keep: tight, ranges: maxRanges, summary: maxSummary}, MaxBytes},
		{fold{keep: 3, ranges: maxRanges, summary: maxSummary}, MaxBytes},
		{fold{keep: 1, ranges: 4, summary: maxSummary}, MaxBytes},
		{fold{keep: 1, ranges: 1, summary: 80, foreign: true}, MaxBytes},
	} {
		folded := &Doc{data: d.data}
		folded.fold(step.fold)
		if len(folded.data) <= step.limit {
			return slices.Clone(folded.data)
		}
	}
	last := &Doc{data: d.data}
	last.fold(fold{keep: 0, ranges: 1, foreign: true})
	return slices.Clone(last.data)
}

// fold says how far to go.
type fold struct {
	// keep is how many entries stay, ranges how many ranges, summary how many
	// runes of a range's words.
	keep, ranges, summary int
	// foreign says that ranges written by others are shortened too.
	foreign bool
}

// folded is one range of iterations.
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
	drop := d.oldest(list, how.keep)
	ranges := map[int]folded{}
	var texts []string
	for i, b := range list {
		if b.kind != rangeBlock {
			continue
		}
		if r, ours := readRange(string(d.data[b.start:b.end])); ours {
			ranges[i] = r
		}
	}
	if len(drop) == 0 && len(ranges) <= how.ranges && !how.foreign && how.summary >= maxSummary {
		return
	}
	all := make([]folded, 0, len(ranges))
	for _, r := range ranges {
		all = append(all, r)
	}
	for _, r := range merged(all, d.entries(list, drop), how.ranges) {
		texts = append(texts, r.render(how.summary))
	}
	d.rewrite(history, list, func(i int) bool {
		_, ours := ranges[i]
		return ours || slices.Contains(drop, i)
	}, texts, how)
}

// oldest returns the indexes of the entries beyond the keep newest.
func (d *Doc) oldest(list []block, keep int) []int {
	var entries []int
	for i, b := range list {
		if b.kind == entryBlock {
			entries = append(entries, i)
		}
	}
	slices.SortStableFunc(entries, func(a, b int) int { return list[b].last - list[a].last })
	return entries[min(keep, len(entries)):]
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

// merged puts entries into ranges, newest range first.
func merged(ranges, entries []folded, most int) []folded {
	all := slices.Concat(ranges, entries)
	slices.SortStableFunc(all, func(a, b folded) int {
		if a.first != b.first {
			return a.first - b.first
		}
		return a.last - b.last
	})
	isRange := func(r folded) bool { return r.last-r.first+1 >= span }
	var out []folded
	for _, r := range all {
		last := len(out) - 1
		if last >= 0 && (r.first <= out[last].last || (!isRange(out[last]) && r.last-out[last].first < span)) {
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
	if r.from == "" {
		r.from = next.from
	}
	if next.to != "" {
		r.to = next.to
	}
	switch {
	case r.summary == "":
		r.summary = next.summary
	case next.summary != "":
		r.summary = next.summary + "; " + r.summary
	}
	return r
}

func (r folded) render(summary int) string {
	text := fmt.Sprintf("### Iters %d–%d — ✅ %d / ❌ %d", r.first, r.last, r.accepted, r.rejected)
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

var rangeForm = regexp.MustCompile(`^#+ Iters (\d{1,9})–(\d{1,9}) — ✅ (\d{1,9}) / ❌ (\d{1,9})(?: / ⚠️ (\d{1,9}))?(?: \(metrics ([^ ()→]+)→([^ ()→]+)\))?(?:: (.*))?$`)

// readRange reads a range that we wrote. Others are left as they are.
func readRange(text string) (folded, bool) {
	found := rangeForm.FindStringSubmatch(strings.TrimSpace(text))
	if found == nil {
		return folded{}, false
	}
	number := func(i int) int { n, _ := strconv.Atoi(found[i]); return n }
	r := folded{
		first: number(1), last: number(2), accepted: number(3), rejected: number(4), fail: number(5),
		from: found[6], to: found[7], summary: found[8],
	}
	return r, r.first <= r.last
}

var (
	statusLine = regexp.MustCompile(`(?im)^\s*[-*]\s*\**status\**:?\**:?\s*(.*)$`)
	changeLine = regexp.MustCompile(`(?im)^\s*[-*]\s*\**change\**:?\**:?\s*(.*?)\s*$`)
	metricLine = regexp.MustCompile(`(?im)^\s*[-*]\s*\**metric\**:?\**:?\s*(\S+)(?:.*?previous best:\s*([^,)\s]+))?`)
	number     = regexp.MustCompile(`^[+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?$`)
)

// readEntry reads what a range keeps of an entry, tolerantly.
func readEntry(iteration int, baseline bool, text string) folded {
	r := folded{first: iteration, last: iteration}
	status := text
	if found := statusLine.FindStringSubmatch(text); found != nil {
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
	case strings.Contains(status, "❌") || strings.Contains(lower, "rejected"):
		r.rejected = 1
	case strings.Contains(status, "⚠") || strings.Contains(lower, "error"):
		r.fail = 1
	}
	if found := metricLine.FindStringSubmatch(text); found != nil {
		if number.MatchString(found[2]) {
			r.from, r.to = found[2], found[2]
		}
		if accepted && number.MatchString(found[1]) {
			r.to = found[1]
			if r.from == "" {
				r.from = r.to
			}
		}
	}
	if found := changeLine.FindStringSubmatch(text); found != nil && r.accepted == 1 {
		r.summary = plain.Clip(strings.TrimSpace(found[1]), 80)
	}
	return r
}

// rewrite leaves out the blocks that were folded and puts the ranges behind
// the last entry that stays.
func (d *Doc) rewrite(history section, list []block, gone func(int) bool, ranges []string, how fold) {
	newline := d.newline()
	var pieces []string
	at := 0
	for i, b := range list {
		if gone(i) {
			continue
		}
		text := strings.TrimRight(string(d.data[b.start:b.end]), "\r\n")
		if b.kind == rangeBlock && how.foreign {
			text, _, _ = strings.Cut(text, "\n")
			text = plain.Clip(strings.TrimRight(text, "\r"), max(how.summary, 40))
		}
		pieces = append(pieces, text)
		if b.kind == entryBlock {
			at = len(pieces)
		}
	}
	pieces = slices.Insert(pieces, at, ranges...)
	if len(list) == 0 {
		return
	}
	text := strings.Join(pieces, newline+newline)
	if d.data[history.bodyEnd-1] == '\n' {
		text += newline
	}
	d.splice(list[0].start, history.bodyEnd, text)
}
