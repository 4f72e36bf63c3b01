package evalrun

import (
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/suite"
	"github.com/org/autoloop/tests/testdir"
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

// TestSkillsThatCannotBeLoaded names every file, and which skills there are.
func TestSkillsThatCannotBeLoaded(t *testing.T) {
	t.Parallel()
	const suite = `[{"id": 1, "prompt": "p", "expectations": ["x"]}]`
	needs := func(file string) string { return strings.Replace(suite, `"p"`, `"p", "files": ["`+file+`"]`, 1) }
	for name, c := range map[string]struct {
		files tree // beside a good skill; of that, "" is nothing
		suite string
		says  []string // nil where it is loaded
	}{
		"a skill":                 {nil, "", nil},
		"its suite elsewhere":     {tree{"s/evals/evals.json": "", "suites/s.json": suite}, "suites/s.json", nil},
		"a suite out of the tree": {nil, "../s.json", []string{"../s.json: "}},
		"a suite that is an input": {
			tree{"s/g/c.json": needs("g/c.json")}, "s/g/c.json", []string{`"g/c.json" is no file in`},
		},
		"no SKILL.md": {
			tree{"s/SKILL.md": "", "s/a/SKILL.md": "x"}, "", []string{"with this file"},
		},
		"a directory of it": {
			tree{"s/SKILL.md": "", "s/SKILL.md/": ""}, "", []string{"s/SKILL.md\" is no regular file"},
		},
		"a linked one": {
			tree{"s/SKILL.md": "-> ../o.md", "o.md": "x"}, "", []string{"s/SKILL.md\" is no regular file"},
		},
		"a huge one": {tree{"s/SKILL.md": "size 1048577"}, "", nil},
		"a linked suite": {
			tree{"s/evals/evals.json": "-> /etc/passwd"}, "", []string{"evals.json\" is no regular file"},
		},
		"a huge suite": {
			tree{"s/evals/evals.json": suite + strings.Repeat(" ", 16<<20)},
			"",
			[]string{"evals.json: has more than 4096 KiB"},
		},
		"a linked skill": {
			tree{"s": "-> /etc", "s/SKILL.md": "", "s/evals/evals.json": ""}, "", []string{"SKILL.md: path escapes"},
		},
		"a file": {tree{"s": "x", "s/SKILL.md": "", "s/evals/evals.json": ""}, "", []string{"SKILL.md: not a directory"}},
		"evals that is a file": {
			tree{"s/evals": "x", "s/evals/evals.json": ""}, "", []string{"evals/evals.json: "},
		},
		"an input by a linked directory of the suite": {
			tree{"s/evals/evals.json": needs("files/in"), "s/data/in": "in", "s/evals/files": "-> ../data"},
			"",
			[]string{`"files/in" is no file in`},
		},
		"an input by a linked directory": {
			tree{"s/evals/evals.json": needs("in/in"), "s/data/in": "in", "s/in": "-> data"},
			"",
			[]string{`"in/in" is no file in`},
		},
		"all faults of all files": {
			tree{
				"s/SKILL.md": "", "s/evals/evals.json": strings.Replace(needs("link"), `"p"`, `""`, 1), "s/link": "-> /etc/passwd",
				"s/evals/trigger-eval.json": `[{"query": ""}]`, "s/evals/evaluation.xml": "<evaluation>",
			}, "", []string{
				"SKILL.md: ", "evals/evals.json:1: [0].prompt: is empty", "[0].files[0]: \"link\" is no file",
				"evals/trigger-eval.json:1: [0].query", "evals/evaluation.xml:1: is no list of",
			},
		},
		"no directory": {tree{"s/SKILL.md": "", "s/evals/evals.json": ""}, "", []string{"SKILL.md: no such file"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := tree{"s/SKILL.md": "x", "s/evals/evals.json": suite}
			maps.Copy(all, c.files)
			maps.DeleteFunc(all, func(name, text string) bool {
				return text == "" && !strings.HasSuffix(name, "in") && name[len(name)-1] != '/'
			})
			loaded, err := Load(testdir.New(t, all), "s", c.suite)
			if c.says == nil {
				require.NoError(t, err)
				assert.Len(t, loaded.Cases, 1)
				return
			}
			var wrong *misuse.Error
			require.ErrorAs(t, err, &wrong)
			for _, says := range c.says {
				require.ErrorContains(t, err, says)
			}
		})
	}
	gone := filepath.Join(testdir.New(t, nil), "gone")
	_, err := Load(gone, ".", "")
	require.EqualError(t, err, "there is no directory "+gone)
}

func TestHiddenFilesOfSkill(t *testing.T) {
	t.Parallel()
	for files, hidden := range map[[2]string]bool{ // the suite, and a file
		{"evals/evals.json", "evals"}:              true,
		{"evals/evals.json", "evals/files/in.txt"}: true,
		{"evals/evals.json", "evals-2/x"}:          false,
		{"evals/evals.json", "sub/evals/x"}:        false,
		{"graded/cases.json", "graded/cases.json"}: true,
		{"graded/cases.json", "graded/readme.md"}:  false,
		{"graded/cases.json", "evals/evals.json"}:  true,
		{"../suite.json", "suite.json"}:            false,
	} {
		assert.Equal(t, hidden, (&Skill{own: files[0]}).hidden(files[1]), files)
	}
}

func TestSuitesThatNeedGrader(t *testing.T) {
	t.Parallel()
	of := func(cases ...suite.Case) *Skill { return &Skill{Cases: cases} }
	words, checks := suite.Case{ID: "b", Expectations: []string{"x"}},
		suite.Case{ID: "a", Checks: []suite.Check{{Kind: suite.OutputExists}}}
	require.NoError(t, Options{}.Fit(of(checks)))
	require.ErrorContains(t, Options{}.Fit(of(checks, words)), "expectations, which need a grader: none")
	require.ErrorContains(t, Options{Runner: Runner{NoGrader: "there is no key"}}.Fit(of(words)),
		"need a grader: there is no key; choose")
	assert.False(t, of(checks).Graded())
	assert.True(t, of(checks, words).Graded())
}
