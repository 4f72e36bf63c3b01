package program

import (
	"fmt"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/org/autoloop/internal/metric"
)

// Pattern is one path or glob. It matches whole paths from the repository's
// root; a trailing slash means the whole directory.
type Pattern struct {
	Text string
	// Line is where it stands in the file.
	Line int
	// Bare is a text in backticks that may be prose: it has no `/`, `.` or `*`,
	// or looks like something else than a path. It means the file of exactly
	// that name, when there is one.
	Bare bool
}

const globMarks = "*?[{"

// newPattern reads one pattern; the error says why it is none.
func newPattern(text string, line int) (Pattern, error) {
	text = strings.TrimSpace(text)
	if doubtful(text) {
		return Pattern{Text: text, Line: line, Bare: true}, nil
	}
	clean, err := cleanPattern(text)
	return Pattern{Text: clean, Line: line}, err
}

// doubtful reports whether a text in backticks may well be prose.
func doubtful(text string) bool {
	if !strings.ContainsAny(text, "/.*?[{") || strings.Trim(text, "./") == "" && text != "./" {
		return true
	}
	if strings.ContainsAny(text, " \t\n<>|=;$\"'") || strings.Contains(text, "()") || strings.Contains(text, "://") || strings.HasPrefix(text, "-") {
		return true
	}
	_, err := metric.ParseValue(strings.TrimSuffix(text, "%"))
	return err == nil
}

func cleanPattern(text string) (string, error) {
	const accepted = "give a path or glob from the repository's root with forward slashes, such as `src/*.go`"
	if strings.HasPrefix(text, "~") || strings.HasPrefix(text, "!") || strings.Contains(text, `\`) {
		return "", fmt.Errorf("%q is no pattern; %s", clip(text), accepted)
	}
	if leaves(text) {
		return "", fmt.Errorf("%q leaves the repository; %s", clip(text), accepted)
	}
	clean := strings.TrimPrefix(path.Clean(text), "/")
	switch {
	case clean == "." || clean == "":
		clean = "**"
	case strings.HasSuffix(text, "/"):
		clean += "/"
	}
	if !doublestar.ValidatePattern(clean) {
		return "", fmt.Errorf("%q is no valid glob; %s", clip(text), accepted)
	}
	return clean, nil
}

// cleanPath reads a path from the repository's root, without wildcards.
func cleanPath(text string) (string, error) {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "/") || strings.HasPrefix(text, "~") || strings.Contains(text, `\`) || leaves(text) {
		return "", fmt.Errorf("%q is no path within the repository; give one from its root with forward slashes", clip(text))
	}
	return path.Clean(text), nil
}

func leaves(text string) bool {
	for part := range strings.SplitSeq(text, "/") {
		if part == ".." {
			return true
		}
	}
	return false
}

// literal reports whether the pattern names one path without a wildcard.
func (p Pattern) literal() bool {
	return p.Bare || !strings.ContainsAny(p.Text, globMarks) && !strings.HasSuffix(p.Text, "/")
}

// Match reports whether the pattern matches the path of a file.
func (p Pattern) Match(path string) bool {
	switch {
	case p.literal():
		return p.Text == path
	case !strings.HasSuffix(p.Text, "/"):
		return doublestar.MatchUnvalidated(p.Text, path)
	case strings.ContainsAny(p.Text, globMarks):
		return doublestar.MatchUnvalidated(p.Text+"**/*", path)
	default:
		return strings.HasPrefix(path, p.Text)
	}
}

// Matcher answers which paths a program lets change.
type Matcher struct{ targets, protected []Pattern }

// Matcher returns the program's targets and protected paths as functions.
func (p *Program) Matcher() Matcher { return Matcher{p.Targets, p.Protected} }

// Target reports whether a target pattern matches, protected or not.
func (m Matcher) Target(path string) bool { return anyMatch(m.targets, path) }

// Protected reports whether the program protects the path.
func (m Matcher) Protected(path string) bool { return anyMatch(m.protected, path) }

// Allows reports whether the path may change as far as the program says.
func (m Matcher) Allows(path string) bool { return m.Target(path) && !m.Protected(path) }

// Literal reports whether the target names the path itself, without a
// wildcard and not as part of a directory.
func (m Matcher) Literal(path string) bool {
	for _, pattern := range m.targets {
		if pattern.literal() && pattern.Text == path {
			return true
		}
	}
	return false
}

func anyMatch(patterns []Pattern, path string) bool {
	for _, pattern := range patterns {
		if pattern.Match(path) {
			return true
		}
	}
	return false
}

// Resolve settles which bare words of the Target section are files: those for
// which isFile is true stay, the others were prose and go.
func (p *Program) Resolve(isFile func(path string) bool) {
	p.Targets, p.Protected = resolved(p.Targets, isFile), resolved(p.Protected, isFile)
}

func resolved(patterns []Pattern, isFile func(path string) bool) []Pattern {
	var kept []Pattern
	for _, pattern := range patterns {
		if pattern.Bare {
			if !isFile(pattern.Text) {
				continue
			}
			pattern.Bare = false
		}
		kept = append(kept, pattern)
	}
	return kept
}
