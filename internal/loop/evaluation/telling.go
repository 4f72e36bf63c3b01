package evaluation

import (
	"slices"
	"strings"

	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/plain"
)

const (
	// maxTelling bounds the lines in a reason together, maxLine each of them and
	// maxLines their number.
	maxTelling = 600
	maxLine    = 200
	maxLines   = 3
	// maxSearched bounds what is looked through, in bytes of each stream.
	maxSearched = 1 << 20
)

// tellers are forms of lines that say why something failed: what compilers say before what
// tests say, and that before what any program says.
var tellers = []string{
	// gcc, clang, tsc; rustc, esbuild, python and node; go; linkers
	`^\s*(?:\./)?[\w./\\@+-]+\.\w{1,5}[:(]\d+(?:[:,]\d+)?\)?:? *(?:fatal )?error(?:\[\w+\]| \w+\d+)?:? `,
	`^error\[\w+\]: |^[✘✗] \[ERROR\] |^(?:[\w.]*Error|[\w.]*Exception)(?::|$)`,
	`^(?:\./|\.\./|vet: )?[\w./\\@+-]+\.go:\d+(?::\d+)?: `,
	`undefined reference to|undefined symbol|multiple definition of|cannot find -l`,
	// go test, pytest, unittest, jest, node, TAP, cargo and mocha
	`^\s*--- FAIL: |^panic: |^fatal error: `,
	`^(?:FAILED|ERROR) \S+\.py\b|^E\s{2,}\S|^(?:FAIL|ERROR): \w+`,
	`^\s*(?:●|✖|✗|×) \S|^\s*not ok \d+|^thread '.*' (?:\(\d+\) )?panicked at |^\s+\d+\) \S`,
	`\bBUG\b|\b[Aa]ssertion\b.* failed\b`,
	`(?i)^(?:npm )?(?:err!|\S*error|fatal|failed)\b[:!]? \S|: (?:fatal )?error: |: command not found$|` +
		`: No such file or directory$|Permission denied$`,
	`^make(?:\[\d+\])?: \*\*\* `,
}

// idle are lines that never say why: warnings of compilers with the code that they
// quote, and how long something took.
var idle = lazyregexp.New(
	`(?i)\bwarning\b|: In function |^\s*\d*\s*\||^[\s|^~=-]*$|\bnote: |duration|elapsed|\btook\b|` +
		`^(?:real|user|sys)\s|^(?:ran|finished|done|time)\b.*\d ?m?s(?:ec\w*)?\b|^exit status \d+$`,
)

// telling are the few lines of an output that say why something failed: the first of a form
// that is known, with those that follow it. Where nothing has such a form it is the last line
// that may say why.
func telling(streams ...string) []string {
	var texts [][]string
	for _, stream := range streams {
		stream = stream[max(0, len(stream)-maxSearched):]
		stream = string(plain.WithoutEscapes([]byte(stream)))
		texts = append(texts, strings.Split(strings.ReplaceAll(stream, "\r", ""), "\n"))
	}
	for _, form := range tellers {
		for _, lines := range texts {
			if at := slices.IndexFunc(lines, lazyregexp.Of(form)().MatchString); at >= 0 {
				return first(lines[at:])
			}
		}
	}
	var last []string
	for _, lines := range texts {
		for _, line := range slices.Backward(lines) {
			switch line = strings.TrimSpace(line); {
			case line == "":
			case !idle().MatchString(line):
				return []string{plain.Clip(line, maxLine)}
			case last == nil:
				last = []string{plain.Clip(line, maxLine)}
			}
		}
	}
	return last
}

// first are the first lines that may say something, each once.
func first(lines []string) (found []string) {
	for _, line := range lines {
		line = plain.Clip(strings.TrimSpace(line), maxLine)
		if line != "" && !idle().MatchString(line) && !slices.Contains(found, line) && len(found) < maxLines {
			found = append(found, line)
		}
	}
	return found
}
