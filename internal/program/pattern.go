package program

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Pattern is one path or glob of the Target section. It matches whole paths
// from the repository's root; a trailing slash means the whole directory.
type Pattern struct {
	Text string
	// Line is where it stands in the file.
	Line int
	// Bare is a word without `/`, `.` or `*`: a file of that name when there
	// is one, else prose.
	Bare bool
}

// newPattern reads one pattern.
func newPattern(text string, line int) (Pattern, error) {
	clean, err := cleanPattern(text)
	if err != nil {
		return Pattern{}, err
	}
	return Pattern{Text: clean, Line: line, Bare: !strings.ContainsAny(clean, "/.*?[{")}, nil
}

func cleanPattern(text string) (string, error) {
	text = strings.TrimSpace(text)
	directory := strings.HasSuffix(text, "/")
	switch {
	case strings.HasPrefix(text, "/"), strings.HasPrefix(text, "~"), strings.Contains(text, `\`), strings.HasPrefix(text, "!"):
		return "", fmt.Errorf("%q is no path from the repository's root with forward slashes, such as `src/*.go`", clip(text))
	}
	for part := range strings.SplitSeq(text, "/") {
		if part == ".." {
			return "", fmt.Errorf("%q leaves the repository", clip(text))
		}
	}
	clean := strings.TrimPrefix(path.Clean(text), "./")
	if clean == "." {
		clean = "**"
		directory = false
	}
	if !doublestar.ValidatePattern(clean) {
		return "", fmt.Errorf("%q is no valid glob", clip(text))
	}
	if directory {
		clean += "/"
	}
	return clean, nil
}

// literal reports whether the pattern names one path without a wildcard.
func (p Pattern) literal() bool {
	return !strings.ContainsAny(p.Text, "*?[{") && !strings.HasSuffix(p.Text, "/")
}

// Match reports whether the pattern matches the path.
func (p Pattern) Match(path string) bool {
	if strings.HasSuffix(p.Text, "/") {
		matched, _ := doublestar.Match(p.Text+"**", path)
		return matched
	}
	if p.literal() {
		return p.Text == path
	}
	matched, _ := doublestar.Match(p.Text, path)
	return matched
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

// Literal reports whether the target names the path without a wildcard.
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

var scriptWord = regexp.MustCompile("[^\\s;|&<>()\"'`$=]+")

// ScriptFiles returns the tracked files that the evaluation script names, also
// relative to a directory that it changes into.
func (p *Program) ScriptFiles(tracked func(path string) bool) []string {
	dirs := []string{""}
	words := scriptWord.FindAllString(p.Script, -1)
	for i, word := range words {
		if word == "cd" && i+1 < len(words) {
			for _, dir := range dirs {
				dirs = append(dirs, path.Join(dir, words[i+1]))
			}
			if len(dirs) > 64 {
				break
			}
		}
	}
	var found []string
	seen := map[string]bool{}
	for _, word := range words {
		for _, dir := range dirs {
			file := path.Join(dir, word)
			if !seen[file] && tracked(file) {
				found = append(found, file)
			}
			seen[file] = true
		}
	}
	return found
}
