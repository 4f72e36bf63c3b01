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
	for name, c := range map[string]struct {
		change func(*shop)
		names  string // "" is nothing
		status string // "" is as names
	}{
		"nothing": {func(*shop) {}, "", ""},
		"a target": {
			func(s *shop) { s.file("value.txt", "6\n") },
			"value.txt is not committed, so iterations do not see it", "",
		},
		"a target that is added": {
			func(s *shop) { s.file("value.txt", "6\n"); s.git("add", "value.txt") },
			"value.txt is not committed", "",
		},
		"a file that is deleted": {
			func(s *shop) { assert.NoError(t, os.Remove(filepath.Join(s.root, "lib.sh"))) },
			"lib.sh is not committed", "",
		},
		"two": {
			func(s *shop) { s.file("value.txt", "6\n"); s.file("lib.sh", "#\n") },
			"lib.sh, value.txt are not committed, so iterations do not see them", "",
		},
		"a new script": {
			func(s *shop) { s.file("tools/new.sh", "#\n") },
			"tools/new.sh is not committed", "",
		},
		"a note that nobody reads": {func(s *shop) { s.file("notes.txt", "#\n") }, "", "notes.txt is not committed"},
		"what git ignores":         {func(s *shop) { s.file("ignored.txt", "#\n") }, "", ""},
		"the program, which is read as it stands": {func(s *shop) {
			s.file(".autoloop/programs/p.md",
				"---\n"+changing+"---\nOther words.\n"+goodTarget+"\n## Evaluation\n```sh\ncat value.txt\n```\n")
		}, ".autoloop/programs/p.md differs from its commit, and is used as it stands", ""},
		"another program": {func(s *shop) {
			s.file(".autoloop/programs/new.md", "---\n"+changing+"---\n"+goodTarget+evaluation)
		}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShop(t)
			s.file(".autoloop/programs/p.md",
				"---\n"+changing+"---\n"+goodTarget+
					"\n## Evaluation\n```sh\n[ ! -e tools/new.sh ] || sh tools/new.sh\ncat value.txt\n```\n")
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
		text := "---\n" + changing + "---\n" + goodTarget + evaluation
		s.file("programs/p.md", text)
		s.file("value.txt", "5\n")
		s.commit()
		s.file("programs/p.md", text+"Other words.\n")
		for _, words := range [][]string{
			{"scheduler"},
			{"status"},
			{"validate"},
			{"iterate"},
			{"doctor", "--quick"},
			{"doctor", "p"},
		} {
			run := s.iterate
			switch words[0] {
			case "scheduler":
				run, words = s.scheduler, nil
			case "iterate":
				words = []string{"--program", "p"}
			}
			a := run(append(words, "--programs", "programs")...)
			assert.Equal(t, 1, strings.Count(a.out+a.errors, "warning: programs/p.md differs from its commit"),
				"%v: %s%s", words, a.out, a.errors)
		}
	})
	t.Run("a new program", func(t *testing.T) {
		t.Parallel()
		s := newShop(t)
		s.file("README", "x\n")
		s.commit()
		assert.Contains(t, s.iterate("init", "speed").errors,
			"warning: autoloop-speed/evaluate.sh, autoloop-speed/settings.conf are not committed, so iterations do "+
				"not see them\n")
	})
}
