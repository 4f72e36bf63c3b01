package evaluation

import (
	"slices"
	"strings"

	"github.com/org/autoloop/internal/lazyregexp"
)

const (
	// maxTelling bounds the lines in a reason together, maxLine each of them and
	// maxLines their number.
	maxTelling = 600
	maxLine    = 200
	maxLines   = 4
	// maxSearched bounds what is looked through, in bytes of each stream.
	maxSearched = 1 << 20
)

// tellers find the lines that say why something failed, what compilers say before
// what tests say, and that before what any program says. The lines that follow
// one and match its then belong to it.
var tellers = []teller{
	// Compilers, linkers, type checkers: where, and what.
	// gcc, clang, tsc
	{
		line: lazyregexp.New(
			`^\s*(?:\./)?[\w./\\@+-]+\.\w{1,5}[:(]\d+(?:[:,]\d+)?\)?:? *(?:fatal )?error(?:\[\w+\]| \w+\d+)?:? `,
		),
	},
	{
		line: lazyregexp.New(`^error(?:\[\w+\])?: `), then: lazyregexp.New(`^\s*--> `),
		not: lazyregexp.New(`could not compile|aborting due to|test failed`),
	}, // rustc
	{line: lazyregexp.New(`^(?:\./|\.\./|vet: )?[\w./\\@+-]+\.go:\d+(?::\d+)?: `)}, // go
	{
		line: lazyregexp.New(`^[✘✗] \[ERROR\] `),
		then: lazyregexp.New(`^\s+\S+:\d+:\d+:$|^$`),
	}, // esbuild
	{line: lazyregexp.New(`undefined reference to|undefined symbol|multiple definition of|cannot find -l`)}, // ld
	{
		line:   lazyregexp.New(`^(?:[\w.]*Error|[\w.]*Exception)(?::|$)`),
		before: lazyregexp.New(`^\s*File "|^\s+at |^\S+\.[cm]?[jt]sx?:\d+`),
	}, // python, node

	// Tests: the name, and what it says.
	{
		line: lazyregexp.New(`^\s*--- FAIL: `),
		then: lazyregexp.New(`^\s+\S+\.go:\d+: |^\s+Error:|^\s+(?:expected|actual)\s*:`), reach: 8,
	}, // go test
	{line: lazyregexp.New(`^panic: |^fatal error: `)},
	{line: lazyregexp.New(`^(?:FAILED|ERROR) \S+\.py\b`)}, // pytest
	{line: lazyregexp.New(`^E\s{2,}\S`)},
	{line: lazyregexp.New(`^(?:FAIL|ERROR): \w+`)}, // unittest
	{
		line: lazyregexp.New(`^\s*● `), then: lazyregexp.New(`^\s+(?:Expected|Received|\S*Error)\b.*`),
		reach: 8,
	}, // jest
	{
		line: lazyregexp.New(`^\s*(?:✖|✗|×) \S`), then: assertion, not: lazyregexp.New(`failing tests?:$`),
		reach: 3,
	}, // node
	{
		line: lazyregexp.New(`^\s*not ok \d+`), then: assertion,
		reach: 12,
	}, // TAP
	{
		line: lazyregexp.New(`^thread '.*' (?:\(\d+\) )?panicked at `),
		then: lazyregexp.New(`^\S`),
	}, // rust
	{line: lazyregexp.New(`^test .+ \.\.\. FAILED$`)},
	{line: lazyregexp.New(`^\s+\d+\) \S`)}, // mocha

	// Anything.
	{line: lazyregexp.New(`\bBUG\b|\b[Aa]ssertion\b.* failed\b`)},
	{
		line: lazyregexp.New(
			`(?i)^(?:npm )?(?:err!|\S*error|fatal|failed)\b[:!]? \S|: (?:fatal )?error: |: command not found$|: No such file or directory$|Permission denied$`,
		),
	},
	{line: lazyregexp.New(`^make(?:\[\d+\])?: \*\*\* `)},
}

// assertion is what a test of node prints below its name.
var assertion = lazyregexp.New(`^\s+(?:\[?\w*Error\b.*|error: .*|BUG\b.*)`)

// teller is one form of a line that says why.
type teller struct {
	// line is the form, then that of lines that follow it and belong to it, not
	// that of lines that say nothing although they have the form. With before, a
	// line of that form is named with it.
	line, then, not, before lazyregexp.Regexp
	// reach is how many lines further a line of the form then may be; 0 is the next.
	reach int
}

// idle are lines that never say why: warnings of compilers with the code that they
// quote, and how long something took.
var idle = lazyregexp.New(
	`(?i)\bwarning\b|: In function |^\s*\d*\s*\||^[\s|^~=-]*$|\bnote: |duration|elapsed|\btook\b|` +
		`^(?:real|user|sys)\s|^(?:ran|finished|done|time)\b.*\d ?m?s(?:ec\w*)?\b|^exit status \d+$`,
)

var escapes = lazyregexp.New(`\x1b\[[0-9;]*[A-Za-z]`)

// telling are the few lines of an output that say why something failed: what a
// compiler says, the first test that fails, an error. It is the last line that may say
// why where nothing has a form that is known.
func telling(streams ...string) []string {
	var texts [][]string
	for _, stream := range streams {
		stream = stream[max(0, len(stream)-maxSearched):]
		texts = append(texts, strings.Split(strings.ReplaceAll(escapes().ReplaceAllString(stream, ""), "\r", ""), "\n"))
	}
	for _, t := range tellers {
		for _, lines := range texts {
			if found := t.find(lines); len(found) > 0 {
				return found
			}
		}
	}
	var last []string
	for _, lines := range texts {
		for _, line := range slices.Backward(lines) {
			switch line = strings.TrimSpace(line); {
			case line == "":
			case !idle().MatchString(line):
				return []string{bounded(line)}
			case last == nil:
				last = []string{bounded(line)}
			}
		}
	}
	return last
}

func (t teller) find(lines []string) []string {
	var found []string
	where := ""
	for i := 0; i < len(lines) && len(found) < maxLines; i++ {
		line := lines[i]
		if t.before != nil && t.before().MatchString(line) {
			where = strings.TrimSpace(line)
		}
		if !t.line().MatchString(line) || t.not != nil && t.not().MatchString(line) {
			continue
		}
		if t.before != nil && where == "" {
			continue
		}
		text := bounded(strings.TrimSpace(line))
		if where != "" {
			text = bounded(where) + ": " + text
		}
		if slices.Contains(found, text) {
			continue
		}
		found = append(found, text)
		var more []string
		more, i = t.following(lines, i, maxLines-len(found))
		found = append(found, more...)
	}
	return found
}

// following are at most so many lines that belong to line i, and where the last is.
func (t teller) following(lines []string, i, most int) (found []string, last int) {
	last = i
	if t.then == nil {
		return nil, last
	}
	for at := i + 1; at < len(lines) && at-last <= max(t.reach, 1) && len(found) < most &&
		!t.line().MatchString(lines[at]); at++ {
		if !t.then().MatchString(lines[at]) {
			continue
		}
		last = at
		if more := bounded(strings.TrimSpace(lines[at])); more != "" {
			found = append(found, more)
		}
	}
	return found, last
}

func bounded(line string) string {
	if len(line) > maxLine {
		return strings.ToValidUTF8(line[:maxLine], "") + "…"
	}
	return line
}
