package memory_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/program"
)

// programFiles makes a directory with these files; a name that ends in a slash is
// an empty directory, a text that begins with "-> " a link.
func programFiles(t *testing.T, files map[string]string) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), "repo")
	require.NoError(t, os.Mkdir(root, 0o755))
	for name, text := range files {
		full := filepath.Join(root, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(full), 0o755))
		target, link := strings.CutPrefix(text, "-> ")
		switch {
		case strings.HasSuffix(name, "/"):
			require.NoError(t, os.MkdirAll(full, 0o755))
		case link:
			require.NoError(t, os.Symlink(target, full))
		default:
			require.NoError(t, os.WriteFile(full, []byte(text), 0o600))
		}
	}
	return root
}

// listed is how programs are named in the expectations: name, file, and the
// first error.
func listed(programs []*program.Program) []string {
	var list []string
	for _, p := range programs {
		line := p.Name + " " + p.File
		if len(p.Errors()) > 0 {
			line += " ! " + p.Errors()[0].Message
		}
		list = append(list, line)
	}
	return list
}

func TestProgramPlaces(t *testing.T) {
	const ok = "# x\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"nothing":     {map[string]string{"README.md": ok}, nil},
		"no programs": {map[string]string{".autoloop/programs/": ""}, nil},
		"file": {
			map[string]string{".autoloop/programs/a.md": ok},
			[]string{"a .autoloop/programs/a.md"},
		},
		"directory": {
			map[string]string{".autoloop/programs/a/program.md": ok},
			[]string{"a .autoloop/programs/a/program.md"},
		},
		"in order of name": {
			map[string]string{
				".autoloop/programs/b.md":         ok,
				".autoloop/programs/a/program.md": ok, ".autoloop/programs/c.md": ok,
			},
			[]string{"a .autoloop/programs/a/program.md", "b .autoloop/programs/b.md", "c .autoloop/programs/c.md"},
		},
		"README is no program": {map[string]string{
			".autoloop/programs/README.md": ok,
			".autoloop/programs/readme.md": ok, ".autoloop/programs/a.md": ok,
		}, []string{"a .autoloop/programs/a.md"}},
		"other files are no programs": {map[string]string{
			".autoloop/programs/a.txt": ok,
			".autoloop/programs/.b.md": ok, ".autoloop/programs/c/eval.sh": ok, ".autoloop/programs/d/": "",
		}, nil},
		"one name twice": {
			map[string]string{
				".autoloop/programs/a.md": ok, ".autoloop/programs/a/program.md": ok,
				".autoloop/programs/b.md": ok,
			},
			[]string{"a .autoloop/programs/a.md ! the name a is claimed twice, by .autoloop/programs/a.md and " +
				".autoloop/programs/a/program.md; keep one", "b .autoloop/programs/b.md"},
		},
		"a directory beside without a program": {map[string]string{
			".autoloop/programs/a.md":      ok,
			".autoloop/programs/a/eval.sh": ok,
		}, []string{"a .autoloop/programs/a.md"}},
		"names that sort around": {
			map[string]string{
				".autoloop/programs/a.md": ok, ".autoloop/programs/a-b.md": ok,
				".autoloop/programs/a.b/program.md": ok, ".autoloop/programs/a/program.md": ok,
			},
			[]string{
				"a .autoloop/programs/a.md ! the name a is claimed twice, by .autoloop/programs/a.md and " +
					".autoloop/programs/a/program.md; keep one", "a-b .autoloop/programs/a-b.md",
				"a.b .autoloop/programs/a.b/program.md",
			},
		},
		"a directory named like a file": {
			map[string]string{".autoloop/programs/x.md/program.md": ok, ".autoloop/programs/b.md": ok},
			[]string{
				"b .autoloop/programs/b.md",
				"x .autoloop/programs/x.md ! a directory has the name of a program file; rename it to " +
					".autoloop/programs/x",
			},
		},
		"upper case": {
			map[string]string{".autoloop/programs/a.MD": ok},
			[]string{"a .autoloop/programs/a.MD ! a program file ends in .md; rename it to a.md"},
		},
		"no slug": {
			map[string]string{
				".autoloop/programs/My Prog.md": ok,
				".autoloop/programs/b.md":       ok,
			},
			[]string{"My Prog .autoloop/programs/My Prog.md ! name \"My Prog\" is no slug ([a-z0-9][a-z0-9._-]*, no " +
				"`..`, no `.` or `.lock` at the end); rename it to \"my-prog\"", "b .autoloop/programs/b.md"},
		},
		"program.md is a dir": {
			map[string]string{".autoloop/programs/a/program.md/": ""},
			[]string{"a .autoloop/programs/a/program.md ! it is no regular file"},
		},
		"too large": {map[string]string{".autoloop/programs/a.md": strings.Repeat("x",
			program.MaxBytes+1)}, []string{"a .autoloop/programs/a.md ! the file is too large; a program file has at " +
			"most 1048576 bytes"}},
		"single": {
			map[string]string{".autoloop/program.md": ok, "program.md": ok},
			[]string{"program .autoloop/program.md"},
		},
		"single at the top": {
			map[string]string{"program.md": ok, ".autoloop/programs/README.md": ok},
			[]string{"program program.md"},
		},
		"single is the last": {map[string]string{
			"program.md": ok, ".autoloop/program.md": ok,
			".autoloop/programs/a.md": ok,
		}, []string{"a .autoloop/programs/a.md"}},
		"a link within": {
			map[string]string{".autoloop/programs/a.md": "-> ../../docs/a.md", "docs/a.md": ok},
			[]string{"a .autoloop/programs/a.md"},
		},
		"a link up and out": {
			map[string]string{".autoloop/programs/a.md": "-> ../../../outside.md"},
			[]string{"a .autoloop/programs/a.md ! the file is a link that leaves the repository"},
		},
		"a link to nothing": {
			map[string]string{".autoloop/programs/a.md": "-> nothing.md"},
			[]string{"a .autoloop/programs/a.md ! no such file or directory"},
		},
		"a link to itself": {
			map[string]string{".autoloop/programs/a.md": "-> a.md"},
			[]string{"a .autoloop/programs/a.md ! too many levels of symbolic links"},
		},
		"a device": {
			map[string]string{".autoloop/programs/a.md": "-> /dev/zero"},
			[]string{"a .autoloop/programs/a.md ! the file is a link that leaves the repository"},
		},
		"a linked directory": {
			map[string]string{".autoloop/programs/a": "-> ../../docs", "docs/program.md": ok},
			[]string{"a .autoloop/programs/a/program.md"},
		},
		"a directory linked out": {
			map[string]string{".autoloop/programs/a": "-> ../../../outside"},
			[]string{"a .autoloop/programs/a/program.md ! the file is a link that leaves the repository"},
		},
		"single linked out": {
			map[string]string{"program.md": "-> ../outside.md"},
			[]string{"program program.md ! the file is a link that leaves the repository"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := programFiles(t, c.files)
			outside := filepath.Join(filepath.Dir(root), "outside")
			require.NoError(t, os.Mkdir(outside, 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(outside, "program.md"), []byte(ok), 0o600))
			require.NoError(t, os.WriteFile(outside+".md", []byte(ok), 0o600))
			programs, err := memory.Programs{Root: root}.Load(false)
			require.NoError(t, err)
			assert.Equal(t, c.want, listed(programs))
		})
	}
}

func TestSingleProgramCountsAlone(t *testing.T) {
	root := programFiles(t, map[string]string{"program.md": "# x\n"})
	programs, err := memory.Programs{Root: root}.Load(true)
	require.NoError(t, err)
	assert.Empty(t, programs, "there are issue programs")
}

func TestProgramsDirectory(t *testing.T) {
	root := programFiles(t, map[string]string{
		"progs/a.md": "# x\n", ".autoloop/programs/b.md": "# x\n",
		"program.md": "# x\n", "empty/": "",
	})
	elsewhere := programFiles(t, map[string]string{
		"c/program.md": "# x\n", "d.md": "-> c/program.md",
		"e.md": "-> ../../e.md",
	})
	for dir, want := range map[string][]string{
		"progs":                      {"a progs/a.md"},
		"./progs/":                   {"a progs/a.md"},
		filepath.Join(root, "progs"): {"a progs/a.md"},
		"empty":                      nil,
		elsewhere: {
			"c " + filepath.ToSlash(elsewhere) + "/c/program.md", "d " + filepath.ToSlash(elsewhere) + "/d.md",
			"e " + filepath.ToSlash(elsewhere) + "/e.md ! no such file or directory",
		},
	} {
		programs, err := memory.Programs{Root: root, Dir: dir}.Load(false)
		require.NoError(t, err)
		assert.Equal(t, want, listed(programs), dir)
	}
	_, err := memory.Programs{Root: root, Dir: "nowhere"}.Load(false)
	require.ErrorContains(t, err, "does not exist")
	_, err = memory.Programs{Root: root, Dir: "program.md"}.Load(false)
	assert.ErrorContains(t, err, "read programs directory")
}

func TestProgramsDirectoryThatLeavesTheRepository(t *testing.T) {
	root := programFiles(t, map[string]string{".autoloop/programs": "-> ../../outside"})
	require.NoError(t, os.Mkdir(filepath.Join(filepath.Dir(root), "outside"), 0o755))
	_, err := memory.Programs{Root: root}.Load(false)
	assert.ErrorContains(t, err, "leaves the repository")
}

func TestFindProgram(t *testing.T) {
	root := programFiles(t, map[string]string{
		".autoloop/programs/a.md": "# x\n", ".autoloop/programs/b.md": "# x\n",
		".autoloop/programs/b/program.md": "# x\n",
	})
	source := memory.Programs{Root: root}
	p, err := source.Find("a")
	require.NoError(t, err)
	require.NotNil(t, p)
	assert.Equal(t, "a", p.Name)
	p, err = source.Find("b")
	require.NoError(t, err)
	require.ErrorContains(t, p.Err(), "claimed twice")
	p, err = source.Find("c")
	require.NoError(t, err)
	assert.Nil(t, p)
}

func TestProgramFileByPath(t *testing.T) {
	root := programFiles(t, map[string]string{"x/speed.md": "# x\n", "l.md": "-> ../y.md"})
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(root), "y.md"), []byte("# x\n"), 0o600))
	source := memory.Programs{Root: root}
	p := source.File(filepath.Join(root, "x/speed.md"))
	assert.Equal(t, []string{"speed x/speed.md"}, listed([]*program.Program{p}))
	require.ErrorContains(t, source.File(filepath.Join(root, "l.md")).Err(), "leaves the repository")
	require.ErrorContains(t, source.File(root).Err(), "no regular file")
	other := programFiles(t, map[string]string{"y.md": "# x\n"})
	assert.NoError(t, source.File(filepath.Join(other, "y.md")).Err(), "a file that was named may be anywhere")
}
