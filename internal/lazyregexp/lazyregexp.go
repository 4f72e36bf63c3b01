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

// Regexp returns a regular expression, which its first call compiles.
type Regexp func() *regexp.Regexp

// New returns the expression. One that is malformed panics when it is first
// used, and at once in a test, so that none is ever released.
func New(text string) Regexp {
	compiled := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
	if strings.HasSuffix(strings.TrimSuffix(os.Args[0], ".exe"), ".test") {
		compiled()
	}
	return compiled
}

var all sync.Map // the expressions of Of, by their texts

// Of returns the expression of a table of texts, which is compiled once.
func Of(text string) Regexp {
	known, _ := all.LoadOrStore(text, New(text))
	return known.(Regexp) //nolint:forcetypeassert,errcheck // nothing else is stored
}
