package decision

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// srcOnly lets src/ change, but for src/eval.sh, and names one workflow.
func srcOnly() Rules {
	return Rules{
		Target: func(p string) bool {
			return strings.HasPrefix(p, "src/") || strings.HasPrefix(p, ".github/") || strings.HasPrefix(p, ".git/") || p == "bench.sh"
		},
		Protected:   func(p string) bool { return p == "src/eval.sh" },
		Literal:     func(p string) bool { return p == ".github/workflows/fast.yml" || strings.HasPrefix(p, ".git/") },
		ProgramFile: "src/program.md",
		Scripts:     []string{"bench.sh"},
	}
}

func TestGuardPaths(t *testing.T) {
	cases := []struct {
		name   string
		change Change
		want   string // part of the reason; empty when allowed
	}{
		{"target", Change{Path: "src/a.go", Kind: Modified}, ""},
		{"deleted target", Change{Path: "src/a.go", Kind: Deleted}, ""},
		{"mode of a target", Change{Path: "src/a.go", Kind: Mode}, ""},
		{"outside", Change{Path: "lib/a.go", Kind: Modified}, "outside the target (modified)"},
		{"outside, deleted", Change{Path: "lib/a.go", Kind: Deleted}, "outside the target (deleted)"},
		{"outside, mode only", Change{Path: "lib/a.go", Kind: Mode}, "outside the target (mode changed)"},
		{"target in another case", Change{Path: "SRC/a.go", Kind: Added}, "outside the target"},
		{"protected wins over target", Change{Path: "src/eval.sh", Kind: Modified}, "protected by the program"},
		{"program file", Change{Path: "src/program.md", Kind: Modified}, "is the program itself"},
		{"evaluation script", Change{Path: "bench.sh", Kind: Modified}, "run by the evaluation"},
		{"workflow by a wildcard", Change{Path: ".github/workflows/slow.yml", Kind: Added}, "automation"},
		{"workflow by its name", Change{Path: ".github/workflows/fast.yml", Kind: Modified}, ""},
		{"own directory", Change{Path: ".autoloop/programs/x.md", Kind: Added}, "belongs to Autoloop"},
		{"own directory in another case", Change{Path: ".AutoLoop/x", Kind: Added}, "belongs to Autoloop"},
		{"git even by its name", Change{Path: ".git/config", Kind: Added}, "belongs to git"},
		{"git deep down", Change{Path: "src/x/.GIT/config", Kind: Added}, "belongs to git"},
		{"refused", Change{Path: "src/pipe", Kind: Added, Refused: "is a named pipe"}, "is a named pipe"},
		{"dots", Change{Path: "src/../lib/a.go", Kind: Added}, "no path inside"},
		{"absolute", Change{Path: "/etc/passwd", Kind: Added}, "no path inside"},
		{"empty", Change{Path: "", Kind: Added}, "no path inside"},
		{"NUL", Change{Path: "src/a\x00b", Kind: Added}, "no path inside"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := Guard([]Change{c.change}, srcOnly())
			if c.want == "" {
				assert.Equal(t, Guarded{OK: true}, got)
				assert.Empty(t, got.Reasons())
				return
			}
			assert.False(t, got.OK)
			require.Len(t, got.Reasons(), 1)
			assert.Contains(t, got.Reasons()[0], c.want)
		})
	}
}

func TestGuardWithoutRules(t *testing.T) {
	got := Guard([]Change{{Path: "a"}}, Rules{})
	assert.Equal(t, []string{`"a": is outside the target`}, got.Reasons())
}

func TestGuardNoChange(t *testing.T) {
	got := Guard(nil, srcOnly())
	assert.False(t, got.OK)
	assert.True(t, got.NoChange)
	assert.Equal(t, []string{"no change proposed"}, got.Reasons())
}

func TestOneViolationRejectsAll(t *testing.T) {
	got := Guard([]Change{{Path: "src/a", Kind: Modified}, {Path: "x", Kind: Added}, {Path: "src/b", Kind: Added}}, srcOnly())
	assert.False(t, got.OK)
	assert.Equal(t, []string{`"x": is outside the target (added)`}, got.Reasons())
}

func TestReasonsAreBoundedLines(t *testing.T) {
	var changes []Change
	for i := range 500 {
		changes = append(changes, Change{Path: fmt.Sprintf("%d\n\xff%s", i, strings.Repeat("é", 5000)), Refused: "says\nmuch " + strings.Repeat("é", 5000)})
	}
	got := Guard(changes, srcOnly()).Reasons()
	require.Len(t, got, 21)
	assert.Equal(t, "and 480 more", got[20])
	for _, line := range got {
		assert.Less(t, len(line), 1200)
		assert.NotContains(t, line, "\n")
	}
}

func TestDotGit(t *testing.T) {
	for _, name := range []string{".git", ".GIT", ".Git", "git~1", "GIT~1", ".git ", ".git.", ".git. .", ".git::$INDEX_ALLOCATION", `.git\config`, `a\.git`, ".g\u200cit", "\ufeff.git", ".gi\u206at"} {
		assert.True(t, DotGit(name), "%q", name)
	}
	for _, name := range []string{"", ".", "git", ".github", ".gitignore", ".gitmodules", "git~2", ".git2", "a.git", ".git\xff", ".git x"} {
		assert.False(t, DotGit(name), "%q", name)
	}
}

func FuzzGuard(f *testing.F) {
	f.Add("src/a.go", "")
	f.Add(".git\\x\x00\xff", "re\nason")
	f.Fuzz(func(t *testing.T, path, refused string) {
		got := Guard([]Change{{Path: path, Refused: refused}}, srcOnly())
		if got.OK != (len(got.Reasons()) == 0) {
			t.Fatalf("OK is %v with reasons %q", got.OK, got.Reasons())
		}
		for _, line := range got.Reasons() {
			if len(line) > 1200 || strings.ContainsAny(line, "\n\r\x00") {
				t.Fatalf("not a bounded line: %q", line)
			}
		}
	})
}
