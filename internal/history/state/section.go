package state

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/org/autoloop/internal/lazyregexp"
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

// section is where the text of a section is: data[start:end], behind the
// heading's line and before the blank lines and rules in front of the next.
type section struct {
	line
	bodyStart, bodyEnd int
}

// sections are those of the file. Of several headings with the words of one section the
// first of the highest rank is that section, and the others are plain.
func (d *Doc) sections() map[SectionKind]section {
	found, known := map[SectionKind]section{}, map[int]bool{}
	var headings []line
	for at := range linesOf(d.data) {
		if at.level == 0 {
			continue
		}
		headings = append(headings, at)
		kind := kindOf(d.data[at.start:at.end])
		if before, twice := found[kind]; !twice || at.level < before.level && kind != machineState {
			found[kind] = section{line: at}
		}
	}
	delete(found, other)
	for _, s := range found {
		known[s.start] = true
	}
	for kind, s := range found {
		end := len(d.data)
		for _, next := range slices.Backward(headings) {
			if next.start > s.start && (known[next.start] || next.level <= s.level &&
				(kind != History || !isEntry(d.data[next.start:next.end]))) {
				end = next.start
			}
		}
		found[kind] = section{s.line, s.next, trimEnd(d.data, s.next, end)}
	}
	return found
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
	found, ok := d.sections()[kind]
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
	all := d.sections()
	if found, ok := all[kind]; ok {
		return found
	}
	text, at := "## "+kind.heading()+"\n\n", len(d.data)
	for later, s := range all {
		if later > kind {
			at = min(at, s.start)
		}
	}
	if at == len(d.data) {
		text = "\n" + strings.TrimSuffix(text, "\n")
		if at > 0 && d.data[at-1] != '\n' {
			text = "\n" + text
		}
	}
	d.splice(at, at, text)
	return d.sections()[kind]
}

// Doc is a state file in memory. It remembers its bytes; every change splices
// them and leaves the rest as it was.
type Doc struct {
	data []byte

	entries []HistoryEntry // that Render writes
	runs    string
}

// New returns a fresh state file for the program of that name.
func New(name string) *Doc {
	var out bytes.Buffer
	fmt.Fprintf(&out, "# Autoloop: %s\n\n", plain.Inline(name, 100))
	out.WriteString(
		"*Autoloop keeps this file. People may edit Paused, Pause Reason, Completed and all the prose.*\n\n",
	)
	out.WriteString("## ⚙️ Machine State\n\n" + Machine{}.Table())
	for kind := ProgramInfo; kind <= History; kind++ {
		fmt.Fprintf(&out, "\n## %s\n\n%s\n", kind.heading(), nothing)
	}
	return &Doc{data: out.Bytes()}
}

// Parse reads a state file and keeps a copy of its bytes. The error is that of
// ParseMachine.
func Parse(data []byte) (*Doc, error) {
	_, _, err := ParseMachine(data)
	if err != nil {
		return nil, err
	}
	return &Doc{data: bytes.Clone(data)}, nil
}

// Machine reads the table.
func (d *Doc) Machine() Machine {
	m, _, _ := ParseMachine(d.data)
	return m
}

// Bytes returns the file as it is now, without compaction.
func (d *Doc) Bytes() []byte { return bytes.Clone(d.data) }

// splice replaces data[start:end] by a text, with the line endings of the file.
func (d *Doc) splice(start, end int, text string) {
	if at := bytes.IndexByte(d.data, '\n'); at > 0 && d.data[at-1] == '\r' {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	d.data = slices.Concat(d.data[:start], []byte(text), d.data[end:])
}

const (
	// maxLearned and maxLearnedBytes bound the items of one section that
	// iterations added; what people wrote is not counted.
	maxLearned      = 15
	maxLearnedBytes = 4096
	// maxLearnedText bounds one of them, in runes.
	maxLearnedText = 240
)

// Learn adds what an iteration handed back as items of a section, each with the
// number of the iteration. What the section says already, in whatever case,
// spacing and punctuation, is left out. When there are too many, the oldest
// items that iterations added go; what people wrote stays. It returns how many
// were added.
func (d *Doc) Learn(kind SectionKind, iteration int, texts []string) int {
	known := map[string]bool{}
	for line := range strings.Lines(d.Section(kind)) {
		known[essence(line)] = true
	}
	added := 0
	for _, text := range texts {
		text = plain.Quote(text, maxLearnedText)
		if key := essence(text); key == "" || known[key] {
			continue
		}
		known[essence(text)] = true
		d.forget(kind, len(text))
		d.AppendItem(kind, fmt.Sprintf("%s (iteration %d)", text, iteration))
		added++
	}
	return added
}

// forget removes the oldest items that iterations added until one more of that
// many bytes has room.
func (d *Doc) forget(kind SectionKind, room int) {
	found, ok := d.sections()[kind]
	if !ok {
		return
	}
	size, count, end := room, 0, found.bodyEnd
	lines := slices.Collect(bytes.Lines(d.data[found.bodyStart:end]))
	for _, line := range slices.Backward(lines) { // the newest first
		start := end - len(line)
		if bytes.HasPrefix(line, []byte("- ")) && ofIteration().Match(line) {
			count++
			if size += len(line); count >= maxLearned || size > maxLearnedBytes {
				d.splice(start, end, "")
			}
		}
		end = start
	}
}

// ofIteration is the attribution at the end of an item.
var ofIteration = lazyregexp.New(`\(iteration \d+\)\s*$`)

// essence is what two items have in common that say the same.
func essence(item string) string {
	item = ofIteration().ReplaceAllString(strings.TrimSpace(item), "")
	return strings.Join(strings.FieldsFunc(strings.ToLower(item), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r)
	}), " ")
}
