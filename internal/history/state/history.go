package state

import (
	"bytes"
	"strconv"
	"strings"
)

// block is a piece of the history: an entry, a range of folded ones, or text
// that is neither. It is data[start:end], with the blank lines behind it.
type block struct {
	kind       blockKind
	start, end int
	// first and last are iterations; equal for an entry.
	first, last int
	baseline    bool
}

type blockKind int

const (
	prose blockKind = iota
	entryBlock
	rangeBlock
)

// isEntry says whether a heading is that of an entry or of a range.
func isEntry(text []byte) bool {
	kind, _, _ := entryHeading(text)
	return kind != prose
}

// entryHeading reads "Iteration 12 …", "Iter 12 …" and "Iters 50–100 …".
func entryHeading(text []byte) (kind blockKind, first, last int) {
	var buffer [64]byte
	words := strings.Fields(string(normal(buffer[:], text)))
	if len(words) < 2 {
		return prose, 0, 0
	}
	first, err := strconv.Atoi(words[1])
	if err != nil || first > maxCount {
		return prose, 0, 0
	}
	switch words[0] {
	case "iteration", "iter":
		return entryBlock, first, first
	case "iterations", "iters":
		last = first
		if len(words) > 2 {
			if n, err := strconv.Atoi(words[2]); err == nil && n >= first && n <= maxCount {
				last = n
			}
		}
		return rangeBlock, first, last
	default:
		return prose, 0, 0
	}
}

// blocks cuts the history at its entries. What comes before the first is no
// block; its end is returned as intro.
func (d *Doc) blocks(history section) (list []block, intro int) {
	intro = history.bodyEnd
	walk := lines{data: d.data[:history.bodyEnd]}
	walk.pos = history.bodyStart
	for {
		at, level, ok := walk.next()
		if !ok {
			return list, intro
		}
		if level == 0 {
			continue
		}
		kind, first, last := entryHeading(walk.text(at))
		if kind == prose && (len(list) == 0 || list[len(list)-1].kind == prose || level > history.level+1) {
			continue
		}
		if len(list) == 0 {
			intro = at.start
		} else {
			list[len(list)-1].end = at.start
		}
		list = append(list, block{
			kind: kind, start: at.start, end: history.bodyEnd, first: first, last: last,
			baseline: kind == entryBlock && (first == 0 || bytes.Contains(bytes.ToLower(walk.text(at)), []byte("baseline"))),
		})
	}
}

// AddEntry puts an entry at the top of the history. One of ours of the same
// iteration is replaced where it is, so that recording twice doubles nothing.
func (d *Doc) AddEntry(e HistoryEntry) {
	e.Iteration = max(e.Iteration, 0)
	e.Baseline = e.Baseline || e.Iteration == 0
	history := d.ensure(History)
	newline := d.newline()
	text := strings.ReplaceAll(e.render(), "\n", newline)
	list, intro := d.blocks(history)
	for _, b := range list {
		if b.kind == entryBlock && b.first == e.Iteration && b.baseline == e.Baseline && ownEntry(string(d.data[b.start:b.end])) {
			d.splice(b.start, b.end, text+d.gapBefore(b.end, history.bodyEnd))
			return
		}
	}
	rest := history.bodyEnd
	if len(list) > 0 {
		rest = intro
		text += newline
	}
	before := d.data[history.bodyStart:max(rest, history.bodyStart)]
	if said := strings.TrimSpace(string(before)); said == "" || isNothing(said) {
		d.replace(history.bodyStart, rest, newline+text)
		return
	}
	if last := bytes.LastIndexByte(bytes.TrimRight(before, "\r\n"), '\n'); bytes.Count(before[last+1:], []byte("\n")) < 2 {
		text = newline + text // there is no blank line yet
	}
	d.replace(max(rest, history.bodyStart), rest, text)
}

// EntryMetric is what an entry of the history says of its metric, as it is written.
type EntryMetric struct {
	Iteration int
	Baseline  bool
	Metric    string
}

// EntryMetrics are those of the entries that are not folded, in their order.
func (d *Doc) EntryMetrics() []EntryMetric {
	history, found := d.find(History)
	if !found {
		return nil
	}
	list, _ := d.blocks(history)
	var metrics []EntryMetric
	for _, b := range list {
		if b.kind != entryBlock {
			continue
		}
		for line := range bytes.Lines(d.data[b.start:b.end]) {
			if text, is := bytes.CutPrefix(bytes.TrimRight(line, "\r\n"), []byte("- **Metric**: ")); is {
				metrics = append(metrics, EntryMetric{b.first, b.baseline, string(text)})
				break
			}
		}
	}
	return metrics
}

// SetPull notes the pull request that an iteration's change went into, when its
// entry is there and names none yet.
func (d *Doc) SetPull(iteration, number int) {
	list, _ := d.blocks(d.ensure(History))
	for _, b := range list {
		if b.kind != entryBlock || b.baseline || b.first != iteration {
			continue
		}
		entry := string(d.data[b.start:b.end])
		commit := strings.Index(entry, "\n- **Commit**: ")
		if number < 1 || commit < 0 || strings.Contains(entry, "\n- **Pull request**: ") {
			return
		}
		at := b.start + commit + 1
		d.splice(at, at, "- **Pull request**: #"+strconv.Itoa(number)+d.newline())
		return
	}
}

// gapBefore is the blank line that separates a block from the next one.
func (d *Doc) gapBefore(end, bodyEnd int) string {
	if end < bodyEnd {
		return d.newline()
	}
	return ""
}
