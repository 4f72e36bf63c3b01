package decision_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/decision"
)

// TestRefuseBare: files that were there, and changes: -x is deleted, ~x modified, and what is refused is marked with !.
func TestRefuseBare(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ before, changes string }{
		"a whole one":                {"", "!src/x/HEAD src/x/config !src/x/objects/a !src/x/refs/heads/a"},
		"one at the top":             {"", "!HEAD !objects/a !refs/a"},
		"completed by one file":      {"x/objects/a x/refs/a", "!x/HEAD"},
		"names in other letters":     {"", "!x/head !x/Objects/a !x/REFS/a"},
		"not a whole one":            {"x/objects/a", "x/HEAD x/ref/a"},
		"in two directories":         {"", "x/HEAD y/objects/a y/refs/a"},
		"one that was there":         {"x/HEAD x/objects/a x/refs/a", "x/refs/b"},
		"files of these names":       {"", "!x/HEAD !x/objects !x/refs"},
		"parts that are elsewhere":   {"", "!x/HEAD !x/commondir y/objects/a y/refs/a y/config"},
		"other letters, elsewhere":   {"x/Head", "!x/CommonDir"},
		"elsewhere without a HEAD":   {"", "x/commondir x/objects/a"},
		"directories of these names": {"", "x/HEAD/a x/commondir/a x/objects/a x/refs/a"},
		"one within the other":       {"", "!x/objects/HEAD !x/objects/objects/a !x/objects/refs/a"},
		"half of it is deleted":      {"x/objects/a x/refs/a", "x/HEAD -x/refs/a"},
		"half of half is deleted":    {"x/objects/a x/refs/a x/refs/b", "!x/HEAD -x/refs/a"},
		"a file that is changed":     {"x/HEAD x/objects/a", "!~x/HEAD !x/refs/a"},
		"one that is exchanged":      {"x/HEAD x/objects/a", "x/refs/a -x/HEAD"},
	} {
		var changes []decision.Change
		for _, path := range strings.Fields(c.changes) {
			path = strings.TrimPrefix(path, "!")
			change := decision.Change{Path: strings.TrimLeft(path, "-~"), Kind: decision.Added}
			switch path[0] {
			case '-':
				change.Kind = decision.Deleted
			case '~':
				change.Kind = decision.Modified
			}
			changes = append(changes, change)
		}
		decision.RefuseBare(slices.Values(strings.Fields(c.before)), changes)
		for i, path := range strings.Fields(c.changes) {
			assert.Equal(t, path[0] == '!', changes[i].Refused != "", "%s: %s", name, path)
		}
	}
}

func TestRefuseBareKeepsWhatWasSaid(t *testing.T) {
	t.Parallel()
	changes := []decision.Change{
		{Path: "x/HEAD", Kind: decision.Added, Refused: "is a named pipe"},
		{Path: "x/objects/a", Kind: decision.Added},
		{Path: "x/refs/a", Kind: decision.Mode},
		{Path: "x/config", Kind: decision.Added},
	}
	decision.RefuseBare(slices.Values([]string{"x/refs/a"}), changes)
	const bare = "is part of a repository"
	for i, want := range []string{"is a named pipe", bare, bare, ""} {
		assert.Contains(t, changes[i].Refused, want, changes[i].Path)
		assert.Equal(t, want == "", changes[i].Refused == "")
	}
}

func TestSetsFilter(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, after string
		sets          bool
		top           string
	}{
		"a macro of the top":           {"", "* big\n", true, "[attr]big filter=lfs\n"},
		"a macro of the top's macro":   {"", "[attr]huge big\n* huge\n", true, "[attr]big filter=lfs\n"},
		"one that the top has made":    {"* big\n", "* big\n*.c text\n", false, "[attr]big filter=lfs\n"},
		"a filter":                     {"", "* filter=x\n", true, ""},
		"among others":                 {"*.c text\n", "*.c text\n*.py -text filter=lfs\n", true, ""},
		"without a value":              {"", "* filter", true, ""},
		"a macro":                      {"", "[attr]big filter=lfs -text\n*.py big\n", true, ""},
		"a macro of macros":            {"", "[attr]big filter=lfs\n[attr]huge big\n* huge\n", true, ""},
		"a macro that was there":       {"[attr]big filter=lfs\n", "[attr]big filter=lfs\n*.py big\n", true, ""},
		"one that was there":           {"*.bin filter=lfs\n", "*.bin filter=lfs\n*.c text\n", false, ""},
		"one for more files":           {"*.bin filter=lfs\n", "* filter=lfs\n", true, ""},
		"none any more":                {"*.bin filter=lfs\n", "*.bin -filter\n", false, ""},
		"other attributes":             {"", "*.filter text eol=lf\n", false, ""},
		"a comment":                    {"", "# filter=x filter\n", false, ""},
		"a macro that nothing uses":    {"", "[attr]big filter=lfs\n", false, ""},
		"an attribute of a like name":  {"", "* filtered=x nofilter\n", false, ""},
		"a filter that is taken away ": {"* filter=x\n", "", false, ""},
	} {
		assert.Equal(t, c.sets, decision.SetsFilter(c.before, c.after, c.top), name)
	}
}
