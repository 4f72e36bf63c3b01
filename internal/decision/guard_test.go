package decision

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// srcOnly lets src/ change, but for src/eval.sh, and names one workflow.
func srcOnly() Rules {
	return Rules{
		Target: func(p string) bool {
			return strings.HasPrefix(p, "src/") || strings.HasPrefix(p, ".github/") || strings.HasPrefix(p, ".git/") ||
				p == "bench.sh"
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
		{"workflow by a wildcard", Change{Path: ".github/workflows/slow.yml", Kind: Added}, "automation"},
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
			assert.Contains(t, Texts(got.Reasons())[0], c.want)
		})
	}
}

// TestWhichRuleOfTheGuardWins: the rules that match a path, t of the target, l a literal one of it, p of what
// is protected.
func TestWhichRuleOfTheGuardWins(t *testing.T) {
	t.Parallel()
	const inside, automation = "is no path inside the repository", "configures the repository's automation"
	for name, c := range map[string]struct {
		path, match string
		want        string // the whole reason; empty when allowed
	}{
		"a program protects what it names":       {"a", "tlp", "is protected by the program"},
		"protected and standing":                 {".github/a", "tp", "is protected by the program"},
		"standing and outside the target":        {".github/a", "", automation},
		"a name alone is no target":              {".github/a", "l", "is outside the target"},
		"workflows by name":                      {".github/a", "tl", ""},
		"the directory of workflows in any case": {".GitHub/a", "t", automation},
		"another directory of that name":         {"docs/.github/a", "t", ""},
		"a name that begins alike":               {".github2/a", "t", ""},
		"a file in place of the directory":       {".github", "t", automation},
		"Autoloop's own by name":                 {".autoloop/a", "tl", ""},
		"Autoloop's own as a file":               {".AUTOLOOP", "t", "belongs to Autoloop"},
		"the program by name":                    {"p.md", "tl", ""},
		"the program in other letters":           {"P.MD", "t", "is the program itself"},
		"a file below one of the program's name": {"p.md/a", "t", ""},
		"a script by name":                       {"s.sh", "tl", ""},
		"a script in other letters":              {"S.sh", "t", "is named by the evaluation"},
		"git's by every rule":                    {"a/.git/b", "tl", "belongs to git"},
		"a path that leaves by every rule":       {"a//b", "tl", inside},
		"a dot on the way":                       {"a/./b", "tl", inside},
		"a slash at the end":                     {"a/", "tl", inside},
		"three dots":                             {"a/.../b", "t", ""},
		"bytes that are no text":                 {"a/\xff\xfe", "t", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			matches := func(sign string) func(string) bool {
				return func(string) bool { return strings.Contains(c.match, sign) }
			}
			rules := Rules{
				Target: matches("t"), Literal: matches("l"), Protected: matches("p"), ProgramFile: "p.md",
				Scripts: []string{"x.sh", "s.sh"},
			}
			var want []string
			if c.want != "" {
				want = []string{quotePath(c.path) + ": " + c.want}
			}
			got := Guard([]Change{{Path: c.path}}, rules)
			assert.Equal(t, c.want == "", got.OK)
			assert.Equal(t, want, Texts(got.Reasons()))
			assert.Equal(t, c.want == "", rules.Allow(c.path))
		})
	}
	assert.True(t, Guard([]Change{{Path: "a"}}, Rules{Target: func(string) bool { return true }}).OK,
		"a program that is an issue protects none")
	assert.Equal(t, []string{`"a": is outside the target`}, Texts(Guard([]Change{{Path: "a"}}, Rules{}).Reasons()))
}

func TestRenameIsTwoChanges(t *testing.T) {
	t.Parallel()
	out := Guard([]Change{{Path: "src/a", Kind: Deleted}, {Path: "lib/a", Kind: Added}}, srcOnly())
	assert.Equal(t, []string{`"lib/a": is outside the target (added)`}, Texts(out.Reasons()))
	in := Guard([]Change{{Path: "lib/a", Kind: Deleted}, {Path: "src/a", Kind: Added}}, srcOnly())
	assert.Equal(t, []string{`"lib/a": is outside the target (deleted)`}, Texts(in.Reasons()))
	assert.True(t, Guard([]Change{{Path: "src/a", Kind: Deleted}, {Path: "src/b", Kind: Added}}, srcOnly()).OK)
}

func TestReasonsAtTheirBounds(t *testing.T) {
	t.Parallel()
	list := func(n int) []string {
		return Texts(Guard(slices.Repeat([]Change{{Path: "a"}}, n), Rules{}).Reasons())
	}
	require.Len(t, list(20), 20)
	assert.Equal(t, list(1)[0], list(20)[19], "twenty are all spelled out")
	require.Len(t, list(21), 21)
	assert.Equal(t, "and 1 more", list(21)[20])

	whole, cut := strings.Repeat("a", 80)+strings.Repeat("z", 80), strings.Repeat("a", 80)+"m"+strings.Repeat("z", 80)
	assert.Equal(t, `"`+whole+`"`, quotePath(whole))
	assert.Equal(t, `"`+strings.Repeat("a", 80)+`"…"`+strings.Repeat("z", 80)+`"`, quotePath(cut),
		"the beginning and the end of a long path")
}

func TestGuardNoChange(t *testing.T) {
	got := Guard(nil, srcOnly())
	assert.False(t, got.OK)
	assert.True(t, got.NoChange)
	assert.Equal(t, []string{"no change proposed"}, Texts(got.Reasons()))
}

func TestDotGit(t *testing.T) {
	for _, name := range []string{
		".git", ".GIT", ".Git", "git~1", "GIT~1", ".git ", ".git.", ".git. .",
		".git::$INDEX_ALLOCATION", `.git\config`, `a\.git`, ".g\u200cit", "\ufeff.git", ".gi\u206at", ".git\xff",
		".git\xffx",
	} {
		assert.True(t, DotGit(name), "%q", name)
	}
	for _, name := range []string{
		"", ".", "git", ".github", ".gitignore", ".gitmodules", "git~2", ".git2", "a.git",
		".gi\xfft", ".git\ufffd", ".git x",
	} {
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
		for _, line := range Texts(got.Reasons()) {
			if len(line) > 1200 || strings.ContainsAny(line, "\n\r\x00") {
				t.Fatalf("not a bounded line: %q", line)
			}
		}
	})
}
