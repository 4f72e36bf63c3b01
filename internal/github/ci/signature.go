package ci

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/plain"
)

// The bounds of a signature and of what an agent is told.
const (
	maxLines   = 3
	maxLine    = 120
	maxNames   = 4
	maxReport  = 6000
	reportLine = 400
)

// The parts of a line that differ from run to run.
var (
	stamps = lazyregexp.New(
		`\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:?\d\d)?|\b\d\d:\d\d:\d\d(\.\d+)?\b`,
	)
	addresses = lazyregexp.New(`https?://\S+|0x[0-9a-fA-F]+|\b[0-9a-f]{8,}\b`)
	paths     = lazyregexp.New(`(?:[A-Za-z]:)?(?:[\w.~@+-]*[/\\])+([\w.+-]+)`)
	durations = lazyregexp.New(`\b\d+(\.\d+)?\s?(ns|µs|us|ms|s|sec|seconds|m|min|minutes)\b`)
	positions = lazyregexp.New(`([\w.+-]+\.\w+)(:\d+)+|\(\d+,\d+\)|\bline \d+\b`)
	// saysNothing is what runners say of every command that fails.
	saysNothing = lazyregexp.New(
		`^(Error: )?(Process completed with exit code \d+|The process '.*' failed with exit code \d+)\.?$`,
	)
	errorLine = lazyregexp.New(
		`(?i)\b(error|fail|failed|failure|panic|fatal|exception|assert|undefined|cannot|expected|not ok)\b|✗|✘|✖`,
	)
)

// Signature names a failure: the failing checks with their first lines about
// errors, sorted, and without what differs from run to run. The same failure
// has the same signature. It is one short line with a sum of the whole.
func (v *Result) Signature() string {
	var names, all []string
	for _, check := range v.Failing {
		names = append(names, Normal(check.Name))
		lines := check.firstErrors()
		slices.Sort(lines)
		all = append(all, Normal(check.Name)+": "+strings.Join(lines, " | "))
	}
	slices.Sort(all)
	slices.Sort(names)
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(strings.Join(all, "\n")))
	if more := len(names) - maxNames; more > 0 {
		names = append(names[:maxNames], fmt.Sprintf("%d more", more))
	}
	return fmt.Sprintf("%s (%08x)", strings.Join(names, ", "), sum.Sum32())
}

// firstErrors are the first lines that speak of errors, else the first lines.
func (c Check) firstErrors() []string {
	var errors, others []string
	for _, text := range c.Lines {
		text = Normal(text)
		switch {
		case text == "", saysNothing().MatchString(text):
		case errorLine().MatchString(text):
			errors = append(errors, text)
		default:
			others = append(others, text)
		}
	}
	if len(errors) == 0 {
		errors = others
	}
	return errors[:min(len(errors), maxLines)]
}

// Normal takes out of a line what differs from run to run: colours, times,
// directories, line numbers, addresses and durations.
func Normal(text string) string {
	const most = 4000
	text = plain.Text(text[:min(len(text), most)])
	text = stamps().ReplaceAllString(text, "")
	text = addresses().ReplaceAllString(text, "")
	text = paths().ReplaceAllString(text, "$1")
	text = positions().ReplaceAllString(text, "$1")
	text = durations().ReplaceAllString(text, "")
	text = plain.Line(text)
	if runes := []rune(text); len(runes) > maxLine {
		text = string(runes[:maxLine])
	}
	return strings.TrimSpace(text)
}

// Report is what an agent is told of a failure, as plain text: bounded, and
// data, not instructions.
func (v *Result) Report() string {
	var b strings.Builder
	for _, check := range v.Failing {
		fmt.Fprintf(&b, "check %s: %s\n", plain.Short(check.Name, reportLine), check.Conclusion)
		for _, text := range check.Lines {
			if text = plain.Short(text, reportLine); text != "" {
				fmt.Fprintf(&b, "  %s\n", text)
			}
			if b.Len() > maxReport {
				b.WriteString("  …\n")
				return b.String()
			}
		}
	}
	return b.String()
}
