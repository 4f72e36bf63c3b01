package tree

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/git"
)

// TestTheKindOfAChange is what git would say, but that it calls another mode a modification.
func TestTheKindOfAChange(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		oldMode, oldID, newMode, newID string
		kind                           decision.ChangeKind
	}{
		{"", "", "100644", "a", decision.Added},
		{"", "", "120000", "a", decision.Added},
		{"100755", "a", "", "", decision.Deleted},
		{"160000", "a", "", "", decision.Deleted},
		{"100644", "a", "100644", "b", decision.Modified},
		{"100644", "a", "100755", "b", decision.Modified},
		{"100644", "a", "100755", "a", decision.Mode},
		{"100755", "a", "100644", "a", decision.Mode},
		{"100644", "a", "120000", "b", decision.Type},
		{"100644", "a", "120000", "a", decision.Type},
		{"120000", "a", "100755", "a", decision.Type},
		{"120000", "a", "120000", "b", decision.Modified},
		{"160000", "a", "100644", "b", decision.Type},
	} {
		assert.Equal(t, c.kind, changeOf(git.DiffEntry{
			OldMode: c.oldMode, OldID: c.oldID, NewMode: c.newMode,
			NewID: c.newID,
		}).Kind, "%+v", c)
	}
}

// TestWhatNoCandidateMayHave, whatever the target is.
func TestWhatNoCandidateMayHave(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change decision.Change
		says   string
	}{
		"a file":             {decision.Change{NewMode: "100644", Size: 7}, ""},
		"an executable":      {decision.Change{NewMode: "100755", Size: 7}, ""},
		"a file of the most": {decision.Change{NewMode: "100644", Size: 10 << 20}, ""},
		"a file of a byte more": {
			decision.Change{NewMode: "100644", Size: 10<<20 + 1},
			"has 10485761 bytes, more than 10485760",
		},
		"a program of more": {
			decision.Change{NewMode: "100755", Size: 10<<20 + 1},
			"has 10485761 bytes, more than 10485760",
		},
		"what was large is gone": {decision.Change{OldMode: "100644"}, ""},
		"a link":                 {decision.Change{NewMode: "120000", Size: 4096}, ""},
		"a link of a byte more": {
			decision.Change{NewMode: "120000", Size: 4097},
			"is a link of 4097 bytes, more than 4096",
		},
		"a submodule":            {decision.Change{NewMode: "160000"}, "is no regular file and no link"},
		"a submodule is gone":    {decision.Change{OldMode: "160000"}, ""},
		"a file for a submodule": {decision.Change{OldMode: "160000", NewMode: "100644"}, ""},
		"an old mode of git":     {decision.Change{NewMode: "100664"}, "is no regular file and no link"},
		"a directory":            {decision.Change{NewMode: "040000"}, "is no regular file and no link"},
	} {
		assert.Equal(t, c.says, refused(c.change), name)
	}
}
