package program_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/program"
)

func TestMatcher(t *testing.T) {
	p := program.Parse(file, []byte(
		"---\ntarget: [src/a.go, lib/*.py, docs/, 'deep/**/*.md', 'gen/*/', 'x.{js,ts}', Makefile, ./dot/y]\n"+
			"protect: [docs/keep/, lib/eval.py]\n---\n"))
	require.NoError(t, p.Err())
	m := p.Matcher()
	allowed := strings.Fields("src/a.go lib/x.py docs/a docs/.hidden docs/a/b/c.md deep/a.md deep/x/y/a.md " +
		"gen/a/b gen/a/b/c gen/b/.x x.js x.ts Makefile dot/y")
	refused := strings.Fields("src/a.go/b other/src/a.go src/b.go SRC/a.go lib/sub/x.py lib/eval.py xlib/x.py docs " +
		"docs2/a docs/keep/a deep/a.txt gen/a x.go sub/Makefile")
	for _, path := range append(allowed, refused...) {
		assert.Equal(t, slices.Contains(allowed, path), m.Allows(path), path)
	}
	assert.True(t, m.Target("lib/eval.py"))
	assert.True(t, m.Protected("lib/eval.py"))
	assert.True(t, m.Literal("src/a.go"))
	assert.True(t, m.Literal("Makefile"))
	assert.False(t, m.Literal("lib/x.py"))
	assert.False(t, m.Literal("docs/"), "a directory names none of its files")
	assert.False(t, m.Literal("docs/a"))
	for _, target := range []string{"./", "**", "**/*"} {
		p := program.Parse(file, []byte("---\ntarget: ['"+target+"']\n---\n"))
		assert.True(t, p.Matcher().Allows("a") && p.Matcher().Allows("a/b/.c"), target)
	}
}

func TestScriptFiles(t *testing.T) {
	tracked := []string{
		"eval.sh", "bench/run.sh", "bench/deep/x.py", "deep/x.py", "src/a.go", "Makefile",
		"data/in.json", "my file.txt", "cfg.toml",
	}
	for name, c := range map[string]struct {
		script string
		want   []string
	}{
		"plain":      {"sh eval.sh", []string{"eval.sh"}},
		"with a dot": {"./eval.sh --fast", []string{"eval.sh"}},
		"quoted":     {`sh "eval.sh" 'bench/run.sh'`, []string{"eval.sh", "bench/run.sh"}},
		"redirected": {
			"sh eval.sh<data/in.json>out.txt;sh bench/run.sh|cat",
			[]string{"eval.sh", "bench/run.sh", "data/in.json"},
		},
		"after cd":    {"cd bench && sh ./run.sh", []string{"bench/run.sh"}},
		"cd and cd":   {"cd bench; cd deep; python x.py", []string{"bench/deep/x.py", "deep/x.py"}},
		"cd up":       {"cd bench; sh ../eval.sh", []string{"eval.sh"}},
		"variable":    {`sh "$ROOT/eval.sh" ${DIR}/bench/run.sh`, []string{"eval.sh", "bench/run.sh"}},
		"command":     {"sh $(pwd)/eval.sh `pwd`/bench/run.sh", []string{"eval.sh", "bench/run.sh"}},
		"assignment":  {"CONFIG=cfg.toml ./x --in=data/in.json", []string{"data/in.json", "cfg.toml"}},
		"a comment":   {"# sh eval.sh", []string{"eval.sh"}},
		"part of one": {"sh val.sh; sh xeval.sh; ls src", nil},
		"directories": {"go test ./src/...", nil},
		"none":        {"", nil},
	} {
		t.Run(name, func(t *testing.T) {
			p := &program.Program{Script: c.script}
			assert.ElementsMatch(t, c.want, p.ScriptFiles(tracked))
		})
	}
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
	files := []string{"README.md", "src/a.c", "src/b.c", "src/eval.sh"}
	for name, c := range map[string]struct{ front, target, script, says string }{
		"a glob": {
			"target: ['src/*']", "", "gcc src/a.c",
			"frontmatter: `target: [src/*, src/a.c]`",
		},
		"a directory": {
			"", "- `src/`", "cd src && gcc a.c b.c",
			"`target: [src/, src/a.c, src/b.c]`",
		},
		"it may change":     {"target: ['src/*', src/a.c]", "", "gcc src/a.c", ""},
		"it may not":        {"target: ['src/*']\nprotect: [src/a.c]", "", "gcc src/a.c", ""},
		"a list item":       {"", "- `src/a.c`", "gcc src/a.c && ./a.out", ""},
		"a line of its own": {"", "`src/a.c`", "gcc src/a.c && ./a.out", ""},
		"a sentence": {
			"", "Change `src/a.c`.", "gcc src/a.c",
			"may change: `src/a.c` is automation of",
		},
		"outside the target": {"target: ['src/*']", "", "mytool README.md", ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := program.Parse("p.md", []byte("---\n"+c.front+
				"\nmetric: m\nmetric_direction: lower\n---\n## Goal\nx\n## Target\n"+c.target+
				"\n## Evaluation\n```bash\n"+c.script+"\n```\n"))
			found := p.Refusals(files, false)
			if c.says == "" {
				assert.Empty(t, found)
				return
			}
			require.Len(t, found, 1)
			assert.Contains(t, found[0].String(), c.says)
		})
	}
}
