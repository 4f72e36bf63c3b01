package tree

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/git"
)

// TestKindOfChange is what git would say, but that it calls another mode a modification.
func TestKindOfChange(t *testing.T) {
	t.Parallel()
	for line, kind := range map[string]decision.ChangeKind{
		" 100644 - b": decision.Added, " 120000 - b": decision.Added,
		"100755  a -": decision.Deleted, "160000  a -": decision.Deleted,
		"100644 100644 a b": decision.Modified, "100644 100755 a b": decision.Modified,
		"120000 120000 a b": decision.Modified, "100644 100755 a a": decision.Mode, "100755 100644 a a": decision.Mode,
		"100644 120000 a b": decision.Type, "100644 120000 a a": decision.Type, "120000 100755 a a": decision.Type,
		"160000 100644 a b": decision.Type,
	} {
		change := strings.Split(line, " ")
		assert.Equal(t, kind, changeOf(git.DiffEntry{
			OldMode: change[0], NewMode: change[1], OldID: change[2], NewID: change[3],
		}).Kind, line)
	}
}

// TestRefusedFilesOfCandidates, whatever the target is.
func TestRefusedFilesOfCandidates(t *testing.T) {
	t.Parallel()
	const large, other = "has 10485761 bytes, more than 10485760", "is no regular file and no link"
	for name, c := range map[string]struct {
		old, mode string
		size      int64
		says      string
	}{
		"an executable of the most": {"", "100755", 10 << 20, ""},
		"a file of a byte more":     {"", "100644", 10<<20 + 1, large},
		"a program of more":         {"", "100755", 10<<20 + 1, large},
		"what was large is gone":    {"100644", "", 0, ""},
		"a link":                    {"", "120000", 4096, ""},
		"a link of a byte more":     {"", "120000", 4097, "is a link of 4097 bytes, more than 4096"},
		"a submodule":               {"", "160000", 0, other},
		"a submodule is gone":       {"160000", "", 0, ""},
		"a file for a submodule":    {"160000", "100644", 0, ""},
		"an old mode of git":        {"", "100664", 0, other},
		"a directory":               {"", "040000", 0, other},
	} {
		assert.Equal(t, c.says, refused(decision.Change{OldMode: c.old, NewMode: c.mode, Size: c.size}), name)
	}
}
