package evalrun

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/misuse"
)

// TestNamesOfSkills has frontmatter as people, editors and other programs write it.
func TestNamesOfSkills(t *testing.T) {
	t.Parallel()
	front := func(text string) string { return "---\n" + text + "\n---\n# Title\n" }
	for text, want := range map[string]string{
		front("name: my-skill\ndescription: x"):               "my-skill",
		front("description: x\nlicense: MIT\nname: my-skill"): "my-skill",
		front("name: 'my-skill'"):                             "my-skill",
		front("name:\tmy_skill.2  "):                          "my_skill.2",
		front("name: My-Skill"):                               "My-Skill",
		front("metadata:\n  name: inner\nname: outer"):        "outer",
		front("metadata:\n  name: inner"):                     "dir",
		front("name: first\nname: second"):                    "first",
		front("name:"):                                        "dir",
		front("name: [a]"):                                    "dir",
		front("name: two words"):                              "dir",
		front("name: a/b"):                                    "dir",
		front("name: ..") + "name: x":                         "dir",
		front("name: a..b"):                                   "dir",
		front("name: .hidden"):                                "dir",
		front("name: -rf"):                                    "dir",
		front("name: ü"):                                      "dir",
		front("name: " + strings.Repeat("a", 101)):            "dir",
		front("name: " + strings.Repeat("a", 100)):            strings.Repeat("a", 100),
		front("names: x"):                                     "dir",
		front("x-name: x"):                                    "dir",
		"# Title\n\n---\nname: below\n---\n":                  "dir",
		"\n---\nname: late\n---\n":                            "dir",
		"---\r\nname: windows\r\ndescription: x\r\n---\r\n":   "windows",
		"\ufeff---\r\nname: both\r\n---\r\n":                  "both",
		"---\nname: never closed\n":                           "dir",
		"---\n---\nname: after\n":                             "dir",
		"":                                                    "dir",
		"---":                                                 "dir",
		"\xff\xfe-\x00-\x00":                                  "dir",
	} {
		assert.Equal(t, want, skillName(text, "dir"), "%q", text)
	}
}

// TestSkillsThatCannotBeLoaded names the file, and which skills there are.
func TestSkillsThatCannotBeLoaded(t *testing.T) {
	t.Parallel()
	const suite = `[{"id": 1, "prompt": "p", "expectations": ["x"]}]`
	for name, c := range map[string]struct {
		files map[string]string // "-> x" is a link, "/" a directory
		skill string
		suite string
		says  string // "" where it is loaded
	}{
		"a skill": {map[string]string{"s/SKILL.md": "x", "s/evals/evals.json": suite}, "s", "", ""},
		"its suite elsewhere": {
			map[string]string{"s/SKILL.md": "x", "suites/s.json": suite},
			"s",
			"suites/s.json", "",
		},
		"a suite out of the tree": {map[string]string{"s/SKILL.md": "x"}, "s", "../s.json", "../s.json: "},
		"no SKILL.md": {map[string]string{
			"s/evals/evals.json": suite, "s/a/SKILL.md": "x",
			"s/b/SKILL.md": "x",
		}, "s", "", "a skill is a directory with this file; skills in "},
		"a directory of it": {
			map[string]string{"s/SKILL.md": "/", "s/evals/evals.json": suite},
			"s", "",
			"SKILL.md: it is no regular file",
		},
		"a linked one": {map[string]string{
			"s/SKILL.md": "-> ../other.md", "other.md": "x",
			"s/evals/evals.json": suite,
		}, "s", "", "SKILL.md: it is no regular file"},
		"a huge one": {map[string]string{
			"s/SKILL.md":         strings.Repeat("x", 1<<20+1),
			"s/evals/evals.json": suite,
		}, "s", "", "SKILL.md: it has more than 1024 KiB"},
		"as large as may be": {map[string]string{
			"s/SKILL.md":         strings.Repeat("x", 1<<20),
			"s/evals/evals.json": suite,
		}, "s", "", ""},
		"a linked suite": {
			map[string]string{"s/SKILL.md": "x", "s/evals/evals.json": "-> /etc/passwd"},
			"s",
			"", "evals/evals.json: it is no regular file",
		},
		"a huge suite": {
			map[string]string{
				"s/SKILL.md":         "x",
				"s/evals/evals.json": suite + strings.Repeat(" ", 16<<20),
			},
			"s", "",
			"s/evals/evals.json: it has more than 16384 KiB",
		},
		"a linked skill": {map[string]string{"s": "-> /etc"}, "s", "", "open the skill: "},
		"a file":         {map[string]string{"s": "x"}, "s", "", "open the skill: "},
		"evals that is a file": {
			map[string]string{"s/SKILL.md": "x", "s/evals": "x"},
			"s", "",
			"evals/evals.json: ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for name, text := range c.files {
				file := filepath.Join(dir, name)
				require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
				switch target, is := strings.CutPrefix(text, "-> "); {
				case is:
					require.NoError(t, os.Symlink(target, file))
				case text == "/":
					require.NoError(t, os.Mkdir(file, 0o755))
				default:
					require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
				}
			}
			loaded, err := Load(dir, c.skill, c.suite)
			if c.says == "" {
				require.NoError(t, err)
				assert.Len(t, loaded.Evals.Cases, 1)
				return
			}
			var wrong *misuse.Error
			require.ErrorAs(t, err, &wrong)
			require.ErrorContains(t, err, c.says)
		})
	}
	dir := t.TempDir()
	for i := range 10 {
		write(t, dir, map[string]string{fmt.Sprintf("s%d/SKILL.md", i): "x"})
	}
	_, err := Load(filepath.Join(dir, "gone"), ".", "")
	require.EqualError(t, err, "there is no directory "+filepath.Join(dir,
		"gone")+"; skills in "+dir+": s0, s1, s2, s3, s4, s5, s6, s7")
}

func TestWhatIsHiddenOfASkill(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		own, name string
		hidden    bool
	}{
		{"evals/evals.json", "evals", true},
		{"evals/evals.json", "evals/files/in.txt", true},
		{"evals/evals.json", "evals-2/x", false},
		{"evals/evals.json", "sub/evals/x", false},
		{"graded/cases.json", "graded/cases.json", true},
		{"graded/cases.json", "graded/readme.md", false},
		{"graded/cases.json", "evals/evals.json", true},
		{"../suite.json", "suite.json", false},
	} {
		assert.Equal(t, c.hidden, (&Skill{own: c.own}).hidden(c.name), "%s with the suite %s", c.name, c.own)
	}
}
