package decision

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/golden"
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
	for row, ok := range map[string]bool{ // the kind of a change, or why its file is refused, and the path
		"modified:src/a.go": true, "deleted:src/a.go": true, "mode changed:src/a.go": true,
		"modified:lib/a.go": false, "deleted:lib/a.go": false, "mode changed:lib/a.go": false,
		"added:SRC/a.go": false, "added:.github/workflows/slow.yml": false, "added:.git/config": false,
		"added:src/x/.GIT/config": false, "is a named pipe:src/pipe": false, "added:src/../lib/a.go": false,
		"added:/etc/passwd": false, "added:": false, "added:src/a\x00b": false,
	} {
		kind, path, _ := strings.Cut(row, ":")
		change := Change{Path: path, Kind: ChangeKind(kind)}
		if strings.HasPrefix(kind, "is ") {
			change = Change{Path: path, Kind: Added, Refused: kind}
		}
		got := Guard([]Change{change}, srcOnly())
		assert.Equal(t, ok, len(got) == 0, row)
		golden.Row(t, strings.ReplaceAll(row, "\x00", "NUL"), Joined(got))
	}
}

// TestWhichRuleOfTheGuardWins: the rules that match a path, t of the target, l a literal one of it, p of what
// is protected.
func TestWhichRuleOfTheGuardWins(t *testing.T) {
	t.Parallel()
	golden.Table(t, map[string]string{
		"a program protects what it names":       "tlp a",
		"protected and standing":                 "tp .github/a",
		"standing and outside the target":        " .github/a",
		"a name alone is no target":              "l .github/a",
		"workflows by name":                      "tl .github/a",
		"the directory of workflows in any case": "t .GitHub/a",
		"another directory of that name":         "t docs/.github/a",
		"a name that begins alike":               "t .github2/a",
		"a file in place of the directory":       "t .github",
		"Autoloop's own by name":                 "tl .autoloop/a",
		"Autoloop's own as a file":               "t .AUTOLOOP",
		"the program by name":                    "tl p.md",
		"the program in other letters":           "t P.MD",
		"a file below one of the program's name": "t p.md/a",
		"a script by name":                       "tl s.sh",
		"a script in other letters":              "t S.sh",
		"git's by every rule":                    "tl a/.git/b",
		"a path that leaves by every rule":       "tl a//b",
		"a dot on the way":                       "tl a/./b",
		"a slash at the end":                     "tl a/",
		"three dots":                             "t a/.../b",
		"bytes that are no text":                 "t a/\xff\xfe",
	}, func(t *testing.T, row string) any {
		match, path, _ := strings.Cut(row, " ")
		matches := func(sign string) func(string) bool {
			return func(string) bool { return strings.Contains(match, sign) }
		}
		rules := Rules{
			Target: matches("t"), Literal: matches("l"), Protected: matches("p"), ProgramFile: "p.md",
			Scripts: []string{"x.sh", "s.sh"},
		}
		got := Guard([]Change{{Path: path}}, rules)
		assert.Equal(t, len(got) == 0, rules.Allow(path))
		return Joined(got)
	})
}

func TestRenameIsTwoChanges(t *testing.T) {
	t.Parallel()
	out := Guard([]Change{{Path: "src/a", Kind: Deleted}, {Path: "lib/a", Kind: Added}}, srcOnly())
	assert.Equal(t, []string{`"lib/a": is outside the target (added)`}, Texts(out))
	in := Guard([]Change{{Path: "lib/a", Kind: Deleted}, {Path: "src/a", Kind: Added}}, srcOnly())
	assert.Equal(t, []string{`"lib/a": is outside the target (deleted)`}, Texts(in))
	assert.Empty(t, Guard([]Change{{Path: "src/a", Kind: Deleted}, {Path: "src/b", Kind: Added}}, srcOnly()))
}

func TestReasonsAtTheirBounds(t *testing.T) {
	t.Parallel()
	list := func(n int) []string {
		return Texts(Guard(slices.Repeat([]Change{{Path: "a"}}, n), srcOnly()))
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
	assert.Equal(t, []string{"no change proposed"}, Texts(Guard(nil, srcOnly())))
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
		for _, line := range Texts(Guard([]Change{{Path: path, Refused: refused}}, srcOnly())) {
			if len(line) > 1200 || strings.ContainsAny(line, "\n\r\x00") {
				t.Fatalf("not a bounded line: %q", line)
			}
		}
	})
}
