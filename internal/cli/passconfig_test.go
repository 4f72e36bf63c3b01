package cli_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestPassConfig: an evaluation finds the configuration of those tools that its
// program names in its home, and no other; what is secret in it is in no output.
func TestPassConfig(t *testing.T) {
	t.Parallel()
	const login = "npm_0123456789abcdef"
	for name, c := range map[string]struct {
		front, script, says string
		code                int
	}{
		"nothing is passed by itself": {"", `test ! -e "$HOME/.npmrc" && cat value.txt`, "5", 0},
		"what is named": {
			"pass-config: [npm, pip]\n",
			`grep -q mirror.example "$HOME/.npmrc" && grep -q pip.example "$HOME/.config/pip/pip.conf" && cat value.txt`, "5", 0,
		},
		"nothing else": {"pass-config: [pip]\n", `test ! -e "$HOME/.npmrc" && cat value.txt`, "5", 0},
		"a tool without any": {
			"pass-config: [conda]\n",
			`test ! -e "$HOME/.condarc" && cat value.txt`, "5", 0,
		},
		"secrets are masked": {
			"pass-config: [npm]\n", `sed -n 2p "$HOME/.npmrc" >&2; exit 3`,
			"_authToken=***", 1,
		},
		"no such tool": {
			"pass-config: [ssh]\n", `cat value.txt`,
			`"ssh" is no tool whose configuration`, 2,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShop(t)
			s.write(filepath.Join(s.dir, ".npmrc"),
				"registry=https://mirror.example/\n//mirror.example/:_authToken="+login+"\n")
			s.write(filepath.Join(s.dir, ".config/pip/pip.conf"),
				"[global]\nindex-url = https://me:0123456789abcdef@pip.example/simple\n")
			s.file(".autoloop/programs/p.md",
				"---\n"+c.front+changing+"---\n"+goodTarget+"\n## Evaluation\n```sh\n"+c.script+"\n```\n")
			s.file("value.txt", "5\n")
			s.commit()
			a := s.iterate("doctor", "p")
			require.Equal(t, c.code, a.code, a.out+a.errors)
			assert.Contains(t, a.out+a.errors, c.says)
			assert.NotContains(t, a.out+a.errors, login)
		})
	}
}
