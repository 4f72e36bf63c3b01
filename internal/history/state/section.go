package state

import (
	"bytes"
	"strings"

	"github.com/org/autoloop/internal/plain"
)

// SectionKind names one of the sections behind the Machine State.
type SectionKind int

// The sections, in the order of a fresh file.
const (
	other SectionKind = iota
	machineState
	ProgramInfo
	Priorities
	Lessons
	Foreclosed
	Future
	History
)

// nothing stands in a section that has no text yet.
const nothing = "*(none yet)*"

func (k SectionKind) heading() string {
	return [...]string{
		"", "⚙️ Machine State", "📋 Program Info", "🎯 Current Priorities", "📚 Lessons Learned",
		"🚧 Foreclosed Avenues", "🔭 Future Directions", "📊 Iteration History",
	}[k]
}

// kindOf recognises a heading by its words.
func kindOf(heading []byte) SectionKind {
	text := words(heading)
	for kind := machineState; kind <= History; kind++ {
		if strings.HasPrefix(text, words([]byte(kind.heading()))) {
			return kind
		}
	}
	return map[string]SectionKind{"priorities": Priorities, "lessons": Lessons, "future work": Future}[text]
}

// heading is one heading of the file.
type heading struct {
	line
	kind SectionKind
}

// section is where the text of a section is: data[start:end], behind the
// heading's line and before the blank lines and rules in front of the next.
type section struct {
	heading
	bodyStart, bodyEnd int
}

// outline lists the headings. Of several with the words of one section the
// first of the highest rank is that section, and the others are plain.
func outline(data []byte) []heading {
	var all []heading
	best := map[SectionKind]int{}
	for at := range linesOf(data) {
		if at.level == 0 {
			continue
		}
		kind := kindOf(data[at.start:at.end])
		if previous, found := best[kind]; kind != other && found {
			if all[previous].level <= at.level || kind == machineState {
				kind = other
			} else {
				all[previous].kind = other
			}
		}
		if kind != other {
			best[kind] = len(all)
		}
		all = append(all, heading{at, kind})
	}
	return all
}

// find returns the section of a kind.
func (d *Doc) find(kind SectionKind) (section, bool) {
	all := outline(d.data)
	for i, h := range all {
		if h.kind != kind {
			continue
		}
		end := len(d.data)
		for _, next := range all[i+1:] {
			if next.kind != other || (next.level <= h.level &&
				(kind != History || !isEntry(d.data[next.start:next.end]))) {
				end = next.start
				break
			}
		}
		return section{heading: h, bodyStart: h.next, bodyEnd: trimEnd(d.data, h.next, end)}, true
	}
	return section{}, false
}

// trimEnd moves end before blank lines and horizontal rules.
func trimEnd(data []byte, start, end int) int {
	for end > start {
		from := start
		if at := bytes.LastIndexByte(data[start:end-1], '\n'); at >= 0 {
			from = start + at + 1
		}
		text := strings.TrimSpace(string(data[from:end]))
		if text != "" && text != "---" && text != "***" && text != "___" {
			break
		}
		end = from
	}
	return end
}

// Section returns the text of a section without our markers and the blank lines around
// it; "" when the section is missing or says only that there is nothing yet.
func (d *Doc) Section(kind SectionKind) string {
	found, ok := d.find(kind)
	if !ok {
		return ""
	}
	text := strings.NewReplacer(beginEntries, "", endEntries, "").Replace(string(d.data[found.bodyStart:found.bodyEnd]))
	text = strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD"))
	if isNothing(text) {
		return ""
	}
	return text
}

func isNothing(text string) bool {
	return !strings.Contains(text, "\n") && strings.HasPrefix(text, "*(") && strings.HasSuffix(text, ")*") ||
		text == "- "+nothing
}

// SetSection replaces the text of a section, and adds the section when it is
// missing. The text is the caller's: it is not escaped.
func (d *Doc) SetSection(kind SectionKind, text string) {
	found := d.ensure(kind)
	if text = strings.TrimSpace(text); text == "" {
		text = nothing
	}
	text = "\n" + strings.ReplaceAll(text, "\r\n", "\n") + "\n"
	if d.data[found.bodyStart-1] != '\n' {
		text = "\n" + text
	}
	d.splice(found.bodyStart, max(found.bodyStart, found.bodyEnd), text)
}

// AppendItem adds a list item with harmless text at the end of a section.
func (d *Doc) AppendItem(kind SectionKind, text string) {
	item := "- " + plain.Quote(text, maxText)
	if d.Section(kind) == "" {
		d.SetSection(kind, item)
		return
	}
	found := d.ensure(kind)
	if d.data[found.bodyEnd-1] != '\n' {
		item = "\n" + item
	}
	d.splice(found.bodyEnd, found.bodyEnd, item+"\n")
}

// ensure returns a section, after adding it in its place when it is missing.
func (d *Doc) ensure(kind SectionKind) section {
	if found, ok := d.find(kind); ok {
		return found
	}
	at := len(d.data)
	for _, h := range outline(d.data) {
		if h.kind > kind {
			at = h.start
			break
		}
	}
	text := "## " + kind.heading() + "\n\n"
	if at == len(d.data) {
		text = "\n" + strings.TrimSuffix(text, "\n")
		if at > 0 && d.data[at-1] != '\n' {
			text = "\n" + text
		}
	}
	d.splice(at, at, text)
	found, _ := d.find(kind)
	return found
}
