package state

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/plain"
)

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
	out.WriteString("*Autoloop keeps this file. People may edit Paused, Pause Reason, Completed and all the prose.*\n\n")
	out.WriteString("## ⚙️ Machine State\n\n| Field | Value |\n|-------|-------|\n")
	var m Machine
	for f := range notBefore { // That row is there only when it says something.
		fmt.Fprintf(&out, "| %s | %s |\n", f.name(), f.cell(&m))
	}
	for _, kind := range []SectionKind{ProgramInfo, Priorities, Lessons, Foreclosed, Future, History} {
		fmt.Fprintf(&out, "\n## %s\n\n%s\n", kind.heading(), nothing)
	}
	doc, err := Parse(out.Bytes())
	if err != nil {
		panic(fmt.Sprintf("the state template cannot be read: %v", err))
	}
	return doc
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

// Table returns the Machine State table as it stands in the file, without its
// heading and without text around it.
func (d *Doc) Table() string {
	found, problem := findTable(d.data)
	if problem != nil {
		return ""
	}
	var out []byte
	for text := range bytes.Lines(d.data[found.section.end:found.last.end]) {
		if bytes.IndexByte(text, '|') >= 0 {
			out = append(out, bytes.TrimRight(text, "\r\n")...)
			out = append(out, '\n')
		}
	}
	return string(out)
}
