package decision_test

import (
	
	
	
	"slices"
	
	"testing"

	"github.com/stretchr/testify/assert"
	

	"github.com/org/autoloop/internal/decision"
)

func TestRefuseBare(t *testing.T) {
	t.Parallel()
	added := func(paths ...string) (changes []decision.Change) {
		for _, path := range paths {
			changes = append(changes, decision.Change{Path: path, Kind: decision.Added})
		}
		return changes
	}
	for name, c := range map[string]struct {
		before  []string
		changes []decision.Change
		refused []string
	}{
		"a whole one": {
			nil, added("src/x/HEAD", "src/x/config", "src/x/objects/a", "src/x/refs/heads/a"),
			[]string{"src/x/HEAD", "src/x/objects/a", "src/x/refs/heads/a"},
		},
		"one at the top":        {nil, added("HEAD", "objects/a", "refs/a"), []string{"HEAD", "objects/a", "refs/a"}},
		"completed by one file": {[]string{"x/objects/a", "x/refs/a"}, added("x/HEAD"), []string{"x/HEAD"}},
		"names in other letters": {
			nil, added("x/head", "x/Objects/a", "x/REFS/a"),
			[]string{"x/head", "x/Objects/a", "x/REFS/a"},
		},
		"not a whole one":    {[]string{"x/objects/a"}, added("x/HEAD", "x/ref/a"), nil},
		"in two directories": {nil, added("x/HEAD", "y/objects/a", "y/refs/a"), nil},
		"one that was there": {[]string{"x/HEAD", "x/objects/a", "x/refs/a"}, added("x/refs/b"), nil},
		"files of these names": {
			nil, added("x/HEAD", "x/objects", "x/refs"),
			[]string{"x/HEAD", "x/objects", "x/refs"},
		},
		"parts that are elsewhere": {
			nil, added("x/HEAD", "x/commondir", "y/objects/a", "y/refs/a", "y/config"),
			[]string{"x/HEAD", "x/commondir"},
		},
		"other letters, elsewhere":   {[]string{"x/Head"}, added("x/CommonDir"), []string{"x/CommonDir"}},
		"elsewhere without a HEAD":   {nil, added("x/commondir", "x/objects/a"), nil},
		"directories of these names": {nil, added("x/HEAD/a", "x/commondir/a", "x/objects/a", "x/refs/a"), nil},
		"one within the other": {
			nil, added("x/objects/HEAD", "x/objects/objects/a", "x/objects/refs/a"),
			[]string{"x/objects/HEAD", "x/objects/objects/a", "x/objects/refs/a"},
		},
		"half of it is deleted": {
			[]string{"x/objects/a", "x/refs/a"},
			append(added("x/HEAD"), decision.Change{Path: "x/refs/a", Kind: decision.Deleted}), nil,
		},
		"half of half is deleted": {
			[]string{"x/objects/a", "x/refs/a", "x/refs/b"},
			append(added("x/HEAD"), decision.Change{Path: "x/refs/a", Kind: decision.Deleted}),
			[]string{"x/HEAD"},
		},
		"a file that is changed": {
			[]string{"x/HEAD", "x/objects/a"},
			[]decision.Change{{Path: "x/HEAD", Kind: decision.Modified}, {Path: "x/refs/a", Kind: decision.Added}},
			[]string{"x/HEAD", "x/refs/a"},
		},
		"one that is exchanged": {
			[]string{"x/HEAD", "x/objects/a"},
			append(added("x/refs/a"), decision.Change{Path: "x/HEAD", Kind: decision.Deleted}), nil,
		},
	} {
		decision.RefuseBare(slices.Values(c.before), c.changes)
		var refused []string
		for _, change := range c.changes {
			if change.Refused != "" {
				refused = append(refused, change.Path)
			}
		}
		assert.Equal(t, c.refused, refused, name)
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
	const bare = "is part of a repository inside the repository"
	for i, want := range []string{"is a named pipe", bare, bare, ""} {
		assert.Equal(t, want, changes[i].Refused, changes[i].Path)
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
