package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestUncommittedWorkIsNamed: whoever changes a file and does not commit it is
// told so by every command that they would run next.
func TestUncommittedWorkIsNamed(t *testing.T) {
	t.Parallel()
	text := "---\n" + changing + "---\n" + goodTarget
	put := func(name, text string) func(*shop) { return func(s *shop) { s.file(name, text) } }
	for name, c := range map[string]struct {
		change func(*shop)
		names  string // "" is nothing
		status string // "" is as names
	}{
		"nothing": {func(*shop) {}, "", ""},
		"one": {
			func(s *shop) { s.file("value.txt", "6\n"); s.git("add", "value.txt") },
			"value.txt is not committed, so iterations do not see it", "",
		},
		"one away": {
			func(s *shop) { assert.NoError(t, os.Remove(filepath.Join(s.root, "lib.sh"))) },
			"lib.sh is not committed", "",
		},
		"two": {
			func(s *shop) { s.file("value.txt", "6\n"); s.file("lib.sh", "#\n") },
			"lib.sh, value.txt are not committed, so iterations do not see them", "",
		},
		"new":      {put("tools/new.sh", "#\n"), "tools/new.sh is not committed", ""},
		"not read": {put("notes.txt", "#\n"), "", "notes.txt is not committed"},
		"ignored":  {put("ignored.txt", "#\n"), "", ""},
		"itself": {
			put(".autoloop/programs/p.md", text+"Other words.\n"+evaluation),
			".autoloop/programs/p.md differs from its commit, and is used as it stands", "",
		},
		"another": {put(".autoloop/programs/new.md", text+evaluation), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShop(t)
			s.file(".autoloop/programs/p.md",
				text+"\n## Evaluation\n```sh\n[ ! -e tools/new.sh ] || sh tools/new.sh\ncat value.txt\n```\n")
			s.file("value.txt", "5\n")
			s.file("lib.sh", "# read by others\n")
			s.file(".gitignore", "ignored.txt\n")
			s.commit()
			c.change(s)
			for _, a := range []answer{s.iterate("validate"), s.iterate("--program", "p", "--dry-run")} {
				require.Zero(t, a.code, a.errors)
				if c.names == "" {
					assert.NotRegexp(t, "not committed|its commit", a.out+a.errors)
				} else {
					assert.Contains(t, a.out+a.errors, "warning: "+c.names)
				}
			}
			says := s.iterate("status").errors
			if expected := c.status + c.names; expected == "" {
				assert.Empty(t, says)
			} else {
				assert.Contains(t, says, "warning: "+expected)
			}
		})
	}
	t.Run("every command that reads programs", func(t *testing.T) {
		t.Parallel()
		s := newShop(t)
		s.file("programs/p.md", text+evaluation)
		s.file("value.txt", "5\n")
		s.commit()
		s.file("programs/p.md", text+evaluation+"Other words.\n")
		answers := []answer{s.scheduler("--programs", "programs")}
		for _, line := range []string{"status", "validate", "--program p", "doctor --quick", "doctor p"} {
			answers = append(answers, s.iterate(append(strings.Fields(line), "--programs", "programs")...))
		}
		for i, a := range answers {
			assert.Equal(t, 1, strings.Count(a.out+a.errors, "warning: programs/p.md differs from its commit"),
				"%d: %s%s", i, a.out, a.errors)
		}
	})
}
