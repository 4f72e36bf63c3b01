package program_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/tests/golden"
)

const fence = "```"

func TestHeadings(t *testing.T) {
	body := func(target string) string {
		return "# Title with a target in it\n\n" + target + "\n`src/a.go`\n\n" + "## Evaluation\n\n" + fence +
			"sh\nsh e.sh\n" + fence + "\n"
	}
	for _, heading := range []string{
		"## Target", "# Target", "###### Target", "## Target files", "## 2. Permitted targets", "## 🎯 Target",
		"## **Target**", "## TARGET ##", "   ## Target",
		"Target\n------", "Target\n======", "## Targets of this program", "## The `target`",
	} {
		t.Run(heading, func(t *testing.T) {
			p := program.Parse(file, []byte(body(heading+"\n")))
			require.NoError(t, p.Err())
			assert.Equal(t, []string{"src/a.go"}, texts(p.Targets))
			assert.Equal(t, "sh e.sh\n", p.Script)
		})
	}
	for _, heading := range []string{
		"## Target metric", "## Targeting", "#Target", "Target", "## Files",
		fence + "\n## Target\n" + fence, "<!--\n## Target\n-->", "    ## Target", "## Non-targets",
	} {
		t.Run("not: "+heading, func(t *testing.T) {
			p := program.Parse(file, []byte(strings.ReplaceAll(body(heading+"\n"),
				"Title with a target in it", "Title")))
			assert.Empty(t, p.Targets)
			assert.NotEmpty(t, p.Missing())
			assert.NoError(t, p.Err(), "no target is no error of selection")
		})
	}
}

func TestFencesComeBeforeHeadings(t *testing.T) {
	p := program.Parse(file, []byte("## Evaluation\n\n"+fence+"bash\n# Target: build first\nmake\n## Goal\nsh e.sh\n"+
		fence+"\n\n## Target\n\n- `a.go`\n"))
	assert.Equal(t, "# Target: build first\nmake\n## Goal\nsh e.sh\n", p.Script)
	assert.Equal(t, []string{"a.go"}, texts(p.Targets))
}

func TestGoal(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"section": {
			"# T\n\n## Goal\n\nMake it *fast*.\n\n- `x`\n\n### Why\n\nBecause.\n\n## Target\n\n`a.go`\n",
			"Make it *fast*.\n\n- `x`\n\n### Why\n\nBecause.",
		},
		"last section":    {"## Target\n`a.go`\n## The goal\nFast.", "Fast."},
		"setext":          {"Goal\n====\n\nFast.\n\nTarget\n======\n\n`a.go`\n", "Fast."},
		"no section":      {"---\nmetric: x\n---\n\nMake it fast.\n", "Make it fast."},
		"other sections":  {"Make it fast.\n\n## Target\n`a.go`\n", "Make it fast.\n\n## Target\n`a.go`"},
		"non-goals":       {"## Goals\n\nFast.\n\n## Non-goals\n\nSmall.\n", "Fast."},
		"comments go":     {"## Goal\n<!-- say\nwhat -->\nFast.\n", "Fast."},
		"the closest one": {"# The goal of all\n\nIntro.\n\n## Goal\n\nFast.\n", "Fast."},
		"unknown section": {"## Goal\nFast.\n## Notes\nNo.\n", "Fast."},
	} {
		t.Run(name, func(t *testing.T) {
			p := program.Parse(file, []byte(c.text))
			require.NoError(t, p.Err())
			assert.Equal(t, c.want, p.Goal)
		})
	}
}

func TestSectionThatIsNotReadIsAWarning(t *testing.T) {
	p := program.Parse(file, []byte("# Title\n\n## Target\n\n`a.go`\n\n## Former targets\n\n`b.go`\n"))
	assert.Equal(t, []string{"a.go"}, texts(p.Targets))
	require.Len(t, p.Warnings(), 1)
	golden.Row(t, "another comes closer", p.Warnings()[0].String())
}

func TestTargets(t *testing.T) {
	for name, c := range map[string]struct {
		text, targets, protected string // separated by |
	}{
		"list": {
			"- `src/a.go`\n- `src/b/*.go` and `docs/`\n",
			"src/a.go|src/b/*.go|docs/",
			"",
		},
		"prose": {
			"Change `src/a.go`, not the `Parse` function.\n",
			"src/a.go",
			"Parse",
		},
		"do not modify": {
			"- `src/`\n\nDo NOT modify:\n\n- `src/eval.go`\n- src/data/x.json\n",
			"src/",
			"src/eval.go|src/data/x.json",
		},
		"on one line": {
			"Only `a.go` may change. Do NOT modify `eval.sh`.\n",
			"a.go",
			"eval.sh",
		},
		"named before": {"- `a.go`\n- `eval.sh` (do not modify)\n", "a.go", "eval.sh"},
		"all after it": {
			"`a.go`\n\nDo not modify `b.go`.\n\nAlso `c.go`.\n",
			"a.go",
			"b.go|c.go",
		},
		"emphasis":            {"`a.go`\n\n**Do *NOT* modify**: `b.go`\n", "a.go", "b.go"},
		"other words":         {"`a.go`\n\nNever touch `b.go`.\n", "a.go", "b.go"},
		"must not be changed": {"`a.go`\n\nThese must not be changed: `b.go`\n", "a.go", "b.go"},
		"don't":               {"`a.go`\n\nDon’t edit `b.go`\n", "a.go", "b.go"},
		"wrapped":             {"`a.go`\n\nPlease do\nnot modify `b.go`\n", "a.go", "b.go"},
		"a heading below":     {"`a.go`\n\n### Do NOT modify\n\n- `b.go`\n", "a.go", "b.go"},
		"a heading beside": {
			"`src/`\n\n## Do NOT modify\n\n- `src/b.go`\n",
			"src/",
			"src/b.go",
		},
		"a file of that name": {
			"- `do not modify.txt`\n- `do_not_modify.go`\n- do_not_modify.md\n",
			"do not modify.txt|do_not_modify.go|do_not_modify.md",
			"",
		},
		"first word of an item": {
			"- src/a.go: the parser\n* lib/*.py, all of them\n1. docs/\n- [ ] x/y.md\n" +
				"- \"q/r.md\"\n- **b/c.go** bold\n- [d.md](d.md)\n",
			"src/a.go|lib/*.py|docs/|x/y.md|q/r.md|b/c.go|d.md",
			"",
		},
		"first words of prose": {"- the files in src\n- e.g. anything\n- 1.5 times\n- (list files)\n" +
			"- https://example.org/a\n", "", ""},
		"nested list":         {"- Code:\n  - `a.go`\n  - b/c.go\n", "a.go|b/c.go", ""},
		"fences are no paths": {fence + "\nsrc/a.go\n`b.go`\n" + fence + "\n`c.go`\n", "c.go", ""},
		"comments are no paths": {
			"<!-- `a.go` -->\n\nText <!-- `b.go`\n`c.go` --> and `d.go`.\n",
			"d.go",
			"",
		},
		"comment in backticks": {"The mark `<!--` and `a.go` and `-->`\n", "<!--|a.go|-->", ""},
		"cleaned":              {"`./a.go` `/b.go` `c//d.go` `./`\n", "a.go|b.go|c/d.go|**", ""},
		"dots are prose": {
			"`.` `...` `0.95` `85%` `foo()` `a.b()` `go test ./...` `--flag=a/b` `https://x.org/y`\n",
			".|...|0.95|85%|foo()|a.b()|go test ./...|--flag=a/b|https://x.org/y",
			"",
		},
		"an empty heading": {"- `a.go`\n\n###\n\n- `b.go`\n", "a.go|b.go", ""},
		"twice":            {"`a.go` and `a.go`\n", "a.go", ""},
		"double backticks": {"`` a.go ``\n", "a.go", ""},
		"table":            {"| file | why |\n|---|---|\n| `a.go` | x |\n", "a.go", ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := program.Parse(file, []byte("## Target\n\n"+c.text+"\n## Notes\n\n`not/this.go`\n"))
			require.NoError(t, p.Err())
			assert.Equal(t, c.targets, strings.Join(texts(p.Targets), "|"))
			assert.Equal(t, c.protected, strings.Join(texts(p.Protected), "|"))
			for _, pattern := range append(p.Targets, p.Protected...) {
				assert.GreaterOrEqual(t, pattern.Line, 3)
			}
		})
	}
}

func TestTargetsThatAreNone(t *testing.T) {
	p := program.Parse(file, []byte("## Target\n\n`../x.go` `~/y.go` `a.go`\n"))
	require.NoError(t, p.Err())
	assert.Equal(t, []string{"a.go"}, texts(p.Targets))
	require.Len(t, p.Warnings(), 2)
	golden.Row(t, "it leaves the repository", p.Warnings()[0].String())

	p = program.Parse(file, []byte("## Target\n\n`src/`\n\nDo NOT modify `../x.go`\n"))
	assert.ErrorContains(t, p.Err(), file+":5: cannot be protected:", "what cannot be protected stops the program")
}

func TestTargetOfTheFrontmatter(t *testing.T) {
	const section = "## Target\n\n`a.go`\n\nDo NOT modify `b.go`\n"
	p := program.Parse(file, []byte("---\ntarget:\n  - src/*.go\n  - Makefile\n---\n"+section))
	assert.Equal(t, []program.Pattern{
		{Text: "src/*.go", Line: 3, Named: true},
		{Text: "Makefile", Line: 4, Named: true},
	}, p.Targets)
	assert.Equal(t, []string{"b.go"}, texts(p.Protected))
	p = program.Parse(file, []byte("---\nprotect: [src/c.go]\n---\n"+section))
	assert.Equal(t, []string{"a.go"}, texts(p.Targets))
	assert.Equal(t, []string{"src/c.go", "b.go"}, texts(p.Protected))
}

func TestBareWordsAreFilesOrProse(t *testing.T) {
	p := program.Parse(file, []byte(
		"## Target\n\nThe `Makefile` for `speed`, `my notes.txt`, `a b.txt`.\n\nDo NOT modify `LICENSE` for `fun`\n"))
	p.Resolve([]string{"LICENSE", "Makefile", "my notes.txt"})
	assert.Equal(t, []string{"Makefile", "my notes.txt"}, texts(p.Targets))
	assert.Equal(t, []string{"LICENSE"}, texts(p.Protected))
	assert.True(t, p.Matcher().Allows("Makefile"))
}

func TestMissing(t *testing.T) {
	p := program.Parse(file, []byte("## Goal\n\nx\n"))
	require.NoError(t, p.Err())
	require.Len(t, p.Missing(), 2)
	assert.Contains(t, p.Missing()[0].String(), file+": no target: ")
	assert.Contains(t, p.Missing()[1].String(), file+": no evaluation: ")
	p = program.Parse(file, []byte("---\nskill: s\ntarget: [s/]\n---\n"))
	assert.Empty(t, p.Missing())
}

func TestEvaluation(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"bash":           {fence + "bash\nmake\n" + fence + "\n", "make\n"},
		"sh, upper case": {fence + "SH title=x\nmake\n" + fence + "\n", "make\n"},
		"unlabelled":     {fence + "\nmake\n" + fence + "\n", "make\n"},
		"tildes":         {"~~~bash\nmake\n~~~\n", "make\n"},
		"several, in order": {"First\n" + fence + "bash\none\n\n" + fence + "\nthen\n" + fence + "\ntwo\n" + fence +
			"\n### Later\n" + fence + "sh\nthree\n" + fence + "\n", "one\ntwo\nthree\n"},
		"in a list": {"1. run\n\n   " + fence + "sh\n   cd x\n     make\n   " + fence + "\n", "cd x\n  make\n"},
		"not ended": {fence + "bash\nmake\n", "make\n"},
		"other languages": {fence + "json\n{\"a\": 1}\n" + fence + "\n" + fence + "bash\nmake\n" + fence + "\n" +
			fence + "python\nx\n" + fence + "\n", "make\n"},
		"only comments":  {fence + "bash\n# nothing\n\n" + fence + "\n", ""},
		"indented block": {"text\n\n    make\n", ""},
		"none":           {"make it\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := program.Parse(file, []byte("## Evaluation\n\n"+c.text))
			assert.Equal(t, c.want, p.Script)
		})
	}
	p := program.Parse(file, []byte("## Evaluation\n\n"+fence+"python\nprint(1)\n"+fence+"\n"))
	golden.Row(t, "a fence of another language", messages(p.Warnings()))
	p = program.Parse(file, []byte("## Notes\n\n"+fence+"bash\nrm -r x\n"+fence+"\n"))
	assert.Empty(t, p.Script)
}

func TestUnconfigured(t *testing.T) {
	t.Parallel()
	for text, line := range map[string]int{
		"# x\n\n<!-- AUTOLOOP:UNCONFIGURED -->\n":                    3,
		"<!-- AUTOLOOP:UNCONFIGURED -->\n---\nmetric: x\n---\n# x\n": 1,
		"# x\n" + fence + "\n<!--AUTOLOOP:UNCONFIGURED-->\n" + fence: 3,
		"## Goal\n\nREPLACE THIS with your goal.\n":                  3,
		"- REPLACE THIS\n":     1,
		"> **REPLACE THIS**\n": 1,
		"## TODO\n":            1,
		"Only `REPLACE_WITH_FILE` -- (what it does)\n":                        1,
		fence + "bash\nREPLACE_WITH_YOUR_EVALUATION_COMMAND\n" + fence + "\n": 2,
		"## Goal\n\nTODO\n":                                               3,
		"## Goal\n\nTODO: describe the goal\n":                            3,
		"TODO describe the goal\n":                                        1,
		"- [ ] TODO: name files\n":                                        1,
		"Some line\nTODO: describe\n":                                     2,
		"Some line.\nTODO describe\n":                                     2,
		fence + "\nTODO: command\n" + fence + "\n":                        2,
		"---\nmetric: REPLACE_WITH_METRIC\n---\n":                         2,
		"---\ntarget: [REPLACE_WITH_FILE]\n---\n":                         2,
		"---\nschedule: daily\ntarget-metric: REPLACE_WITH_NUMBER\n---\n": 3,
	} {
		p := parse(text)
		require.NoError(t, p.Err(), text)
		assert.True(t, p.Unconfigured, text)
		assert.Equal(t, line, p.Placeholder, text)
	}
	for _, text := range []string{
		"Remove every TODO from the code.\n",
		"Count the number of\nTODO comments in the code.\n",
		"The number of `TODO` comments, `TODO:` too.\n",
		"TODOS.md lists what to do\n",
		fence + "sh\n# TODO: later\nmake\n" + fence + "\n",
		fence + "sh\ngrep -c TODO src/*.go\n" + fence + "\n",
		"Use REPLACE_WITH_X in the template.\n",
		"Replace this function with a faster one.\n",
		"REPLACE the table\n",
		"<!-- TODO: later -->\n\n<!-- REPLACE THIS -->\n",
		"`sed s/REPLACE_WITH_X/y/`\n",
		"The mark AUTOLOOP:UNCONFIGURED stops it.\n",
	} {
		p := parse(text)
		require.NoError(t, p.Err(), text)
		assert.False(t, p.Unconfigured, text)
	}
}

func TestContradiction(t *testing.T) {
	const add = "add the line `metric_direction: lower`"
	for name, c := range map[string]struct {
		text, says string
		line       int
	}{
		"default": {"# x\n\nLower is better.\n", add, 3},
		"given": {
			"---\nmetric_direction: higher\n---\n\nLower is better.\n",
			"line to `metric_direction: lower`", 5,
		},
		"the reverse": {
			"---\nmetric_direction: lower\n---\nhigher is better\n",
			"line to `metric_direction: higher`", 4,
		},
		"emphasis":       {"**Lower** is *better*.\n", add, 1},
		"all emphasised": {"_**lower is better**_\n", add, 1},
		"wrapped":        {"x\nLower\nis better\n", add, 2},
		"with a noun":    {"Lower values are better\n", add, 1},
		"upper case":     {"LOWER IS BETTER\n", add, 1},
		"not the fence":  {fence + "\nhigher is better\n" + fence + "\nlower is better\n", add, 4},
		"not a comment":  {"<!-- higher is better -->\n\nlower is better\n", add, 3},
	} {
		t.Run(name, func(t *testing.T) {
			p := parse(c.text)
			head := program.Parse(file, []byte(c.text))
			for _, p := range []*program.Program{p, head} {
				require.Len(t, p.Errors(), 1)
				found := p.Errors()[0]
				assert.Equal(t, c.line, found.Line)
				assert.Contains(t, found.Message, c.says)
				assert.True(t, found.Contradiction)
				p.GoOn(p.Direction)
				require.NoError(t, p.Err())
				assert.Len(t, p.Warnings(), 1)
			}
		})
	}
	for _, text := range []string{
		"Lower is better for time, higher is better for rate.\n",
		"Lower/Higher is better\n",
		"`lower` or `higher` is better\n",
		"Higher is better.\n",
		"---\nmetric_direction: lower\n---\nLower is better. Not higher.\n",
		fence + "\nlower is better\n" + fence + "\n",
		"<!-- lower is better -->\n",
		"Go lower, that is better\n",
	} {
		require.NoError(t, parse(text).Err(), text)
	}
	p := parse("---\nmetric_direction: down\n---\nLower is better.\n")
	assert.Len(t, p.Errors(), 1, "a direction that cannot be read is the one error")
}
