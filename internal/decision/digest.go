package decision

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// Digest identifies what a patch does, so that the same change is not measured
// twice: two patches that differ only in where their lines are in a file, in
// blank lines, in tabs against spaces, or in runs of spaces within a line have
// one digest. The patch is git's, with full object ids; the digest is 32
// hexadecimal digits of a SHA-256, "" for a patch without a change.
func Digest(patch []byte) string {
	sum, any := sha256.New(), false
	readPatch(patch, func(what, text string) {
		any = true
		fmt.Fprintf(sum, "%s %d %s\n", what, len(text), text)
	})
	if !any {
		return ""
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// PatchLines returns the lines that a patch adds and takes away, each with its
// sign, as Digest sees them.
func PatchLines(patch []byte) []string {
	var lines []string
	readPatch(patch, func(what, text string) {
		if what == "+" || what == "-" {
			lines = append(lines, what+text)
		}
	})
	return lines
}

// readPatch tells write what a patch does: its files, modes, binary contents and
// the lines that are not blank.
func readPatch(patch []byte, write func(what, text string)) {
	d := digest{write: write}
	for line := range bytes.Lines(patch) {
		d.line(strings.TrimRight(string(line), "\r\n"))
	}
}

type digest struct {
	write func(what, text string)
	// old and added count the lines that are left of the present hunk.
	old, added int
	blob       string // the new object id of the present file
}

func (d *digest) line(line string) {
	if d.old > 0 || d.added > 0 {
		d.content(line)
		return
	}
	switch {
	case strings.HasPrefix(line, "@@ "):
		d.hunk(line)
	case strings.HasPrefix(line, "diff --git "):
		d.blob = ""
		d.write("file", strings.TrimPrefix(line, "diff --git "))
	case strings.HasPrefix(line, "index "):
		_, blob, _ := strings.Cut(strings.TrimPrefix(line, "index "), "..")
		d.blob, _, _ = strings.Cut(blob, " ")
	case strings.HasPrefix(line, "new file mode "), strings.HasPrefix(line, "deleted file mode "),
		strings.HasPrefix(line, "old mode "), strings.HasPrefix(line, "new mode "):
		d.write("mode", line)
	case line == "GIT binary patch":
		d.write("blob", d.blob)
	}
}

// hunk reads `@@ -from,count +from,count @@`; a count that is missing is 1.
func (d *digest) hunk(line string) {
	d.old, d.added = 1, 1
	fields := strings.Fields(line)
	if len(fields) < 3 {
		return
	}
	for i, count := range []*int{&d.old, &d.added} {
		if _, text, found := strings.Cut(fields[i+1], ","); found {
			if _, err := fmt.Sscanf(text, "%d", count); err != nil {
				*count = 0
			}
		}
	}
}

func (d *digest) content(line string) {
	if line == "" {
		line = " " // an empty line of context whose space was cut
	}
	switch line[0] {
	case '-':
		d.old--
	case '+':
		d.added--
	case '\\': // no newline at the end of the file
		return
	default:
		d.old, d.added = d.old-1, d.added-1
		return
	}
	if text := normal(line[1:]); text != "" {
		d.write(line[:1], text)
	}
}

// normal is a line without what rarely matters: trailing spaces, runs of spaces
// within, and tabs instead of spaces. How far it is indented stays.
func normal(line string) string {
	rest := strings.TrimLeft(line, " \t")
	words := strings.Join(strings.Fields(rest), " ")
	if words == "" {
		return ""
	}
	indent := line[:len(line)-len(rest)]
	return strings.ReplaceAll(indent, "\t", "    ") + words
}
