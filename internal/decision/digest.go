package decision

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/plain"
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
// the lines that are not blank. Each line of a hunk has its sign, which no header begins with.
func readPatch(patch []byte, write func(what, text string)) {
	inside, blob := false, "" // of a hunk; the new object id of the present file
	for raw := range bytes.Lines(patch) {
		line := strings.TrimRight(string(raw), "\r\n")
		file, begins := strings.CutPrefix(line, "diff --git ")
		ids, indexed := strings.CutPrefix(line, "index ")
		switch {
		case begins:
			inside, blob = false, ""
			write("file", file)
		case strings.HasPrefix(line, "@@ "):
			inside = true
		case inside:
			if text := normal(line[min(len(line), 1):]); text != "" && (line[0] == '+' || line[0] == '-') {
				write(line[:1], text)
			}
		case indexed:
			_, blob, _ = strings.Cut(ids, "..")
			blob, _, _ = strings.Cut(blob, " ")
		case modeForm().MatchString(line):
			write("mode", line)
		case line == "GIT binary patch":
			write("blob", blob)
		}
	}
}

var modeForm = lazyregexp.New(`^(?:new file|deleted file|old|new) mode `)

// normal is a line without what rarely matters: trailing spaces, runs of spaces
// within, and tabs instead of spaces. How far it is indented stays.
func normal(line string) string {
	rest := strings.TrimLeft(line, " \t")
	words := plain.Spaced(rest)
	if words == "" {
		return ""
	}
	indent := line[:len(line)-len(rest)]
	return strings.ReplaceAll(indent, "\t", "    ") + words
}
