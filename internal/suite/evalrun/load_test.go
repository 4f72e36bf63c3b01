package evalrun

import (
	"fmt"
	"maps"
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
	type files = map[string]string // "-> x" is a link, "/" a directory, "" nothing
	for name, c := range map[string]struct {
		files files // beside a good skill
		suite string
		says  string // "" where it is loaded
	}{
		"a skill":                 {nil, "", ""},
		"its suite elsewhere":     {files{"s/evals/evals.json": "", "suites/s.json": suite}, "suites/s.json", ""},
		"a suite out of the tree": {nil, "../s.json", "../s.json: "},
		"no SKILL.md":             {files{"s/SKILL.md": "", "s/a/SKILL.md": "x"}, "", "with this file; skills in "},
		"a directory of it":       {files{"s/SKILL.md": "/"}, "", "SKILL.md: it is no regular file"},
		"a linked one": {
			files{"s/SKILL.md": "-> ../o.md", "o.md": "x"}, "", "SKILL.md: it is no regular file",
		},
		"a huge one": {files{"s/SKILL.md": strings.Repeat("x", 1<<20+1)}, "", ""},
		"a linked suite": {
			files{"s/evals/evals.json": "-> /etc/passwd"}, "", "evals.json: it is no regular file",
		},
		"a huge suite": {
			files{"s/evals/evals.json": suite + strings.Repeat(" ", 16<<20)},
			"",
			"evals.json: has more than 4096 KiB",
		},
		"a linked skill": {
			files{"s": "-> /etc", "s/SKILL.md": "", "s/evals/evals.json": ""}, "", "open the skill: ",
		},
		"a file":               {files{"s": "x", "s/SKILL.md": "", "s/evals/evals.json": ""}, "", "open the skill: "},
		"evals that is a file": {files{"s/evals": "x", "s/evals/evals.json": ""}, "", "evals/evals.json: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			all := files{"s/SKILL.md": "x", "s/evals/evals.json": suite}
			maps.Copy(all, c.files)
			for name, text := range all {
				if text == "" {
					continue
				}
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
			loaded, err := Load(dir, "s", c.suite)
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

func TestHiddenFilesOfSkill(t *testing.T) {
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
