// Package lazyregexp compiles regular expressions when they are first used.
//
// A command starts itself again for each isolated process, and most of these
// processes use none of the many expressions that packages define.
package lazyregexp

import (
	"os"
	"regexp"
	"strings"
	"sync"
)

// Regexp is a regular expression in the syntax of package regexp. Its methods
// are those of [regexp.Regexp].
type Regexp struct {
	compiled func() *regexp.Regexp
}

// New returns the expression. One that is malformed panics when it is first
// used, and at once in a test, so that none is ever released.
func New(text string) *Regexp {
	r := &Regexp{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })}
	if strings.HasSuffix(strings.TrimSuffix(os.Args[0], ".exe"), ".test") {
		r.compiled()
	}
	return r
}

// Find is [regexp.Regexp.Find].
func (r *Regexp) Find(b []byte) []byte { return r.compiled().Find(b) }

// FindAllIndex is [regexp.Regexp.FindAllIndex].
func (r *Regexp) FindAllIndex(b []byte, n int) [][]int { return r.compiled().FindAllIndex(b, n) }

// FindAllString is [regexp.Regexp.FindAllString].
func (r *Regexp) FindAllString(s string, n int) []string { return r.compiled().FindAllString(s, n) }

// FindAllStringIndex is [regexp.Regexp.FindAllStringIndex].
func (r *Regexp) FindAllStringIndex(s string, n int) [][]int {
	return r.compiled().FindAllStringIndex(s, n)
}

// FindAllStringSubmatch is [regexp.Regexp.FindAllStringSubmatch].
func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return r.compiled().FindAllStringSubmatch(s, n)
}

// FindAllStringSubmatchIndex is [regexp.Regexp.FindAllStringSubmatchIndex].
func (r *Regexp) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return r.compiled().FindAllStringSubmatchIndex(s, n)
}

// FindAllSubmatch is [regexp.Regexp.FindAllSubmatch].
func (r *Regexp) FindAllSubmatch(b []byte, n int) [][][]byte {
	return r.compiled().FindAllSubmatch(b, n)
}

// FindAllSubmatchIndex is [regexp.Regexp.FindAllSubmatchIndex].
func (r *Regexp) FindAllSubmatchIndex(b []byte, n int) [][]int {
	return r.compiled().FindAllSubmatchIndex(b, n)
}

// FindIndex is [regexp.Regexp.FindIndex].
func (r *Regexp) FindIndex(b []byte) []int { return r.compiled().FindIndex(b) }

// FindString is [regexp.Regexp.FindString].
func (r *Regexp) FindString(s string) string { return r.compiled().FindString(s) }

// FindStringIndex is [regexp.Regexp.FindStringIndex].
func (r *Regexp) FindStringIndex(s string) []int { return r.compiled().FindStringIndex(s) }

// FindStringSubmatch is [regexp.Regexp.FindStringSubmatch].
func (r *Regexp) FindStringSubmatch(s string) []string { return r.compiled().FindStringSubmatch(s) }

// FindSubmatch is [regexp.Regexp.FindSubmatch].
func (r *Regexp) FindSubmatch(b []byte) [][]byte { return r.compiled().FindSubmatch(b) }

// Match is [regexp.Regexp.Match].
func (r *Regexp) Match(b []byte) bool { return r.compiled().Match(b) }

// MatchString is [regexp.Regexp.MatchString].
func (r *Regexp) MatchString(s string) bool { return r.compiled().MatchString(s) }

// ReplaceAll is [regexp.Regexp.ReplaceAll].
func (r *Regexp) ReplaceAll(src, repl []byte) []byte { return r.compiled().ReplaceAll(src, repl) }

// ReplaceAllLiteralString is [regexp.Regexp.ReplaceAllLiteralString].
func (r *Regexp) ReplaceAllLiteralString(src, repl string) string {
	return r.compiled().ReplaceAllLiteralString(src, repl)
}

// ReplaceAllString is [regexp.Regexp.ReplaceAllString].
func (r *Regexp) ReplaceAllString(src, repl string) string {
	return r.compiled().ReplaceAllString(src, repl)
}

// ReplaceAllStringFunc is [regexp.Regexp.ReplaceAllStringFunc].
func (r *Regexp) ReplaceAllStringFunc(src string, repl func(string) string) string {
	return r.compiled().ReplaceAllStringFunc(src, repl)
}

// Split is [regexp.Regexp.Split].
func (r *Regexp) Split(s string, n int) []string { return r.compiled().Split(s, n) }

// String is [regexp.Regexp.String].
func (r *Regexp) String() string { return r.compiled().String() }
