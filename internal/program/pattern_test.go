package program_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/tests/golden"
)

func TestPathsThatMayChange(t *testing.T) {
	p := parse("---\ntarget: [src/a.go, lib/*.py, docs/, 'deep/**/*.md', 'gen/*/', 'x.{js,ts}', Makefile, ./dot/y]\n" +
		"protect: [docs/keep/, lib/eval.py]\n---\n")
	require.NoError(t, p.Err())
	allowed := strings.Fields("src/a.go lib/x.py docs/a docs/.hidden docs/a/b/c.md deep/a.md deep/x/y/a.md " +
		"gen/a/b gen/a/b/c gen/b/.x x.js x.ts Makefile dot/y")
	refused := strings.Fields("src/a.go/b other/src/a.go src/b.go SRC/a.go lib/sub/x.py lib/eval.py xlib/x.py docs " +
		"docs2/a docs/keep/a deep/a.txt gen/a x.go sub/Makefile")
	for _, path := range append(allowed, refused...) {
		assert.Equal(t, slices.Contains(allowed, path), p.Allows(path), path)
	}
	assert.True(t, p.Targeted("lib/eval.py"))
	assert.True(t, p.Protects("lib/eval.py"))
	assert.True(t, p.NamesExactly("src/a.go"))
	assert.True(t, p.NamesExactly("Makefile"))
	assert.False(t, p.NamesExactly("lib/x.py"))
	assert.False(t, p.NamesExactly("docs/"), "a directory names none of its files")
	assert.False(t, p.NamesExactly("docs/a"))
	for _, target := range []string{"./", "**", "**/*"} {
		p := parse("---\ntarget: ['" + target + "']\n---\n")
		assert.True(t, p.Allows("a") && p.Allows("a/b/.c"), target)
	}
}

func TestScriptFiles(t *testing.T) {
	tracked := strings.Split("eval.sh;bench/run.sh;bench/deep/x.py;deep/x.py;src/a.go;Makefile;data/in.json;"+
		"my file.txt;cfg.toml", ";")
	golden.Table(t, map[string]string{
		"plain":       "sh eval.sh => eval.sh",
		"with a dot":  "./eval.sh --fast => eval.sh",
		"quoted":      `sh "eval.sh" 'bench/run.sh' => bench/run.sh eval.sh`,
		"redirected":  "sh eval.sh<data/in.json>out.txt;sh bench/run.sh|cat => bench/run.sh data/in.json eval.sh",
		"after cd":    "cd bench && sh ./run.sh => bench/run.sh",
		"cd and cd":   "cd bench; cd deep; python x.py => bench/deep/x.py deep/x.py",
		"cd up":       "cd bench; sh ../eval.sh => eval.sh",
		"variable":    `sh "$ROOT/eval.sh" ${DIR}/bench/run.sh => bench/run.sh eval.sh`,
		"command":     "sh $(pwd)/eval.sh `pwd`/bench/run.sh => bench/run.sh eval.sh",
		"assignment":  "CONFIG=cfg.toml ./x --in=data/in.json => cfg.toml data/in.json",
		"a comment":   "# sh eval.sh => eval.sh",
		"part of one": "sh val.sh; sh xeval.sh; ls src =>",
		"directories": "go test ./src/... =>",
		"none":        "=>",
	}, func(_ *testing.T, script string) any {
		found := (&program.Program{Script: script}).ScriptFiles(tracked)
		return strings.Join(slices.Sorted(slices.Values(found)), " ")
	})
}

// TestScriptFilesOfASuite holds that who works on its tasks is part of what
// measures.
func TestScriptFilesOfASuite(t *testing.T) {
	for want, p := range map[string]*program.Program{
		"own.sh": {Evaluation: program.Tasks, ExecutorCommand: "sh own.sh", AgentCommand: "sh agent.sh"},
		"agent.sh": {
			Evaluation: program.Skill,
			AgentCommand: "cat $AUTOLOOP_SKILL/own.sh ${AUTOLOOP_SKILL}/eval.sh \"$AUTOLOOP_SKILL\"/own.sh; sh " +
				"agent.sh; cat SKILL.md",
		},
		"": {Evaluation: program.Tasks, Executor: "claude", AgentCommand: "sh agent.sh"},
		"eval.sh": {
			Evaluation: program.Metric, Script: "sh eval.sh", AgentCommand: "sh agent.sh",
			ExecutorCommand: "sh own.sh",
		},
	} {
		found := p.ScriptFiles([]string{"own.sh", "agent.sh", "eval.sh", "s/SKILL.md"})
		assert.Equal(t, want, strings.Join(found, " "))
	}
}

// TestUndecidedFilesAreRefused: with the two lines, each of which solves it.
func TestUndecidedFilesAreRefused(t *testing.T) {
	golden.Table(t, map[string]string{ // the frontmatter, the target and the script
		"a glob":             "target: ['src/*'] // // gcc src/a.c",
		"a directory":        "// - `src/` // cd src && gcc a.c b.c",
		"it may change":      "target: ['src/*', src/a.c] // // gcc src/a.c",
		"it may not":         "target: ['src/*']\nprotect: [src/a.c] // // gcc src/a.c",
		"a list item":        "// - `src/a.c` // gcc src/a.c && ./a.out",
		"a line of its own":  "// `src/a.c` // gcc src/a.c && ./a.out",
		"a sentence":         "// Change `src/a.c`. // gcc src/a.c",
		"outside the target": "target: ['src/*'] // // mytool README.md",
	}, func(_ *testing.T, row string) any {
		parts := strings.Split(row, "//")
		return messages(parse("---\n"+parts[0]+"\nmetric: m\nmetric_direction: lower\n---\n## Goal\nx\n## Target\n"+
			strings.TrimSpace(parts[1])+"\n## Evaluation\n```bash\n"+parts[2]+"\n```\n").
			Refusals([]string{"README.md", "src/a.c", "src/b.c", "src/eval.sh"}, false))
	})
}
