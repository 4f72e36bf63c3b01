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
