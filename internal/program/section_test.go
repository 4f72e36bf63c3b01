package program_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/tests/golden"
)

const fence = "```"

func TestHeadings(t *testing.T) {
	for _, heading := range []string{
		"## Target", "# Target", "###### Target", "## Target files", "## 2. Permitted targets", "## 🎯 Target",
		"## **Target**", "## TARGET ##", "   ## Target",
		"Target\n------", "Target\n======", "## Targets of this program", "## The `target`",
		"## Target metric", "## Targeting", "#Target", "Target", "## Files",
		fence + "\n## Target\n" + fence, "<!--\n## Target\n-->", "    ## Target", "## Non-targets",
	} {
		p := parse("# Title with an aim in it\n\n" + heading + "\n\n`src/a.go`\n\n## Evaluation\n\n" + fence +
			"sh\nsh e.sh\n" + fence + "\n")
		require.NoError(t, p.Err(), "no target is no error of selection")
		assert.Equal(t, "sh e.sh\n", p.Script)
		assert.Equal(t, len(p.Targets) == 0, len(p.Missing()) > 0)
		golden.Row(t, heading, texts(p.Targets))
	}
	assert.NotEmpty(t, parse("# Title with a target in it\n\n## Target\n\n`a.go`\n").Targets, "another is closer")
}

func TestFencesComeBeforeHeadings(t *testing.T) {
	p := parse("## Evaluation\n\n" + fence + "bash\n# Target: build first\nmake\n## Goal\nsh e.sh\n" +
		fence + "\n\n## Target\n\n- `a.go`\n")
	assert.Equal(t, "# Target: build first\nmake\n## Goal\nsh e.sh\n", p.Script)
	assert.Equal(t, []string{"a.go"}, texts(p.Targets))
}

func TestGoal(t *testing.T) {
	golden.Table(t, map[string]string{
		"section":         "# T\n\n## Goal\n\nMake it *fast*.\n\n- `x`\n\n### Why\n\nBecause.\n\n## Target\n\n`a.go`\n",
		"last section":    "## Target\n`a.go`\n## The goal\nFast.",
		"setext":          "Goal\n====\n\nFast.\n\nTarget\n======\n\n`a.go`\n",
		"no section":      "---\nmetric: x\n---\n\nMake it fast.\n",
		"other sections":  "Make it fast.\n\n## Target\n`a.go`\n",
		"non-goals":       "## Goals\n\nFast.\n\n## Non-goals\n\nSmall.\n",
		"comments go":     "## Goal\n<!-- say\nwhat -->\nFast.\n",
		"the closest one": "# The goal of all\n\nIntro.\n\n## Goal\n\nFast.\n",
		"unknown section": "## Goal\nFast.\n## Notes\nNo.\n",
	}, func(t *testing.T, text string) any {
		p := parse(text)
		require.NoError(t, p.Err())
		return p.Goal
	})
}

func TestSectionThatIsNotReadIsAWarning(t *testing.T) {
	p := parse("# Title\n\n## Target\n\n`a.go`\n\n## Former targets\n\n`b.go`\n")
	assert.Equal(t, []string{"a.go"}, texts(p.Targets))
	require.Len(t, p.Warnings(), 1)
	golden.Row(t, "another comes closer", p.Warnings()[0].String())
}

func TestTargetOfTheFrontmatter(t *testing.T) {
	const section = "## Target\n\n`a.go`\n\nDo NOT modify `b.go`\n"
	p := parse("---\ntarget:\n  - src/*.go\n  - Makefile\n---\n" + section)
	assert.Equal(t, []program.Pattern{
		{Text: "src/*.go", Line: 3, Named: true},
		{Text: "Makefile", Line: 4, Named: true},
	}, p.Targets)
	assert.Equal(t, []string{"b.go"}, texts(p.Protected))
	p = parse("---\nprotect: [src/c.go]\n---\n" + section)
	assert.Equal(t, []string{"a.go"}, texts(p.Targets))
	assert.Equal(t, []string{"src/c.go", "b.go"}, texts(p.Protected))
}

func TestBareWordsAreFilesOrProse(t *testing.T) {
	p := parse("## Target\n\nThe `Makefile` for `speed`, `my notes.txt`, `a b.txt`.\n\n" +
		"Do NOT modify `LICENSE` for `fun`\n")
	p.Resolve([]string{"LICENSE", "Makefile", "my notes.txt"})
	assert.Equal(t, []string{"Makefile", "my notes.txt"}, texts(p.Targets))
	assert.Equal(t, []string{"LICENSE"}, texts(p.Protected))
	assert.True(t, p.Allows("Makefile"))
}

func TestMissing(t *testing.T) {
	p := parse("## Goal\n\nx\n")
	require.NoError(t, p.Err())
	require.Len(t, p.Missing(), 2)
	assert.Contains(t, p.Missing()[0].String(), file+": no target: ")
	assert.Contains(t, p.Missing()[1].String(), file+": no evaluation: ")
	p = parse("---\nskill: s\ntarget: [s/]\n---\n")
	assert.Empty(t, p.Missing())
}

func TestEvaluation(t *testing.T) {
	golden.Table(t, map[string]string{
		"bash":           fence + "bash\nmake\n" + fence + "\n",
		"sh, upper case": fence + "SH title=x\nmake\n" + fence + "\n",
		"unlabelled":     fence + "\nmake\n" + fence + "\n",
		"tildes":         "~~~bash\nmake\n~~~\n",
		"several, in order": "First\n" + fence + "bash\none\n\n" + fence + "\nthen\n" + fence + "\ntwo\n" + fence +
			"\n### Later\n" + fence + "sh\nthree\n" + fence + "\n",
		"in a list": "1. run\n\n   " + fence + "sh\n   cd x\n     make\n   " + fence + "\n",
		"not ended": fence + "bash\nmake\n",
		"other languages": fence + "json\n{\"a\": 1}\n" + fence + "\n" + fence + "bash\nmake\n" + fence + "\n" +
			fence + "python\nx\n" + fence + "\n",
		"only comments":               fence + "bash\n# nothing\n\n" + fence + "\n",
		"indented block":              "text\n\n    make\n",
		"none":                        "make it\n",
		"a fence of another language": fence + "python\nprint(1)\n" + fence + "\n",
		"another section":             "## Notes\n\n" + fence + "bash\nrm -r x\n" + fence + "\n",
	}, func(t *testing.T, text string) any {
		p := parse("## Evaluation\n\n" + text)
		return p.Script + messages(p.Warnings())
	})
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
	golden.Table(t, map[string]string{
		"default":        "# x\n\nLower is better.\n",
		"given":          "---\nmetric_direction: higher\n---\n\nLower is better.\n",
		"the reverse":    "---\nmetric_direction: lower\n---\nhigher is better\n",
		"emphasis":       "**Lower** is *better*.\n",
		"all emphasised": "_**lower is better**_\n",
		"wrapped":        "x\nLower\nis better\n",
		"with a noun":    "Lower values are better\n",
		"upper case":     "LOWER IS BETTER\n",
		"not the fence":  fence + "\nhigher is better\n" + fence + "\nlower is better\n",
		"not a comment":  "<!-- higher is better -->\n\nlower is better\n",
	}, func(t *testing.T, text string) any {
		p := parse(text)
		require.Len(t, p.Errors(), 1)
		found := p.Errors()[0]
		assert.True(t, found.Contradiction)
		p.GoOn(p.Direction)
		require.NoError(t, p.Err())
		assert.Len(t, p.Warnings(), 1)
		return found
	})
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
