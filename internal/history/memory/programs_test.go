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

// TestProgramsAreFoundInTheirPlaces: the rows name files, of which @ is the directory of programs, and what is found.
func TestProgramsAreFoundInTheirPlaces(t *testing.T) {
	t.Parallel()
	const out = " ! the file is a link that leaves the repository"
	for name, c := range map[string]struct{ files, want string }{
		"nothing":                     {"README.md", ""},
		"no programs":                 {"@", ""},
		"files and directories":       {"@b.md @a/program.md @c.md", "a @a/program.md\nb @b.md\nc @c.md"},
		"README is no program":        {"@README.md @readme.md @a.md", "a @a.md"},
		"other files are no programs": {"@a.txt @.b.md @c/eval.sh @d/", ""},
		"one name twice": {
			"@a.md @a/program.md @a-b.md @a.b/program.md",
			"a @a.md ! the name a is claimed twice, by @a.md and @a/program.md; keep one\n" +
				"a-b @a-b.md\na.b @a.b/program.md",
		},
		"a directory beside without a program": {"@a.md @a/eval.sh", "a @a.md"},
		"a directory named like a file": {
			"@x.md/program.md @b.md", "b @b.md\nx @x.md ! a directory has the name of a program file; rename it to @x",
		},
		"upper case": {"@a.MD", "a @a.MD ! a program file ends in .md; rename it to a.md"},
		"no slug": {
			"@My.md @b.md", "My @My.md ! name \"My\" is no slug ([a-z0-9][a-z0-9._-]{0,63}, no `..`, no `.` or `.lock` " +
				"at the end); rename it to \"my\"\nb @b.md",
		},
		"program.md is a dir": {"@a/program.md/", "a @a/program.md ! it is no regular file"},
		"too large": {
			"@large.md", "large @large.md ! the file is too large; a program file has at most 1048576 bytes",
		},
		"single":                 {".autoloop/program.md program.md", "program .autoloop/program.md"},
		"single at the top":      {"program.md @README.md", "program program.md"},
		"single is the last":     {"program.md .autoloop/program.md @a.md", "a @a.md"},
		"a link within":          {"@a.md->../../docs/a.md docs/a.md", "a @a.md"},
		"a link up and out":      {"@a.md->../../../outside.md", "a @a.md" + out},
		"a link to nothing":      {"@a.md->nothing.md", "a @a.md ! no such file or directory"},
		"a link to itself":       {"@a.md->a.md", "a @a.md ! too many levels of symbolic links"},
		"a device":               {"@a.md->/dev/zero", "a @a.md" + out},
		"a linked directory":     {"@a->../../docs docs/program.md", "a @a/program.md"},
		"a directory linked out": {"@a->../../../outside", "a @a/program.md" + out},
		"single linked out":      {"program.md->../outside.md", "program program.md" + out},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := strings.NewReplacer("@", ".autoloop/programs/")
			files := map[string]string{}
			for _, file := range strings.Fields(at.Replace(c.files)) {
				file, target, link := strings.Cut(file, "->")
				files[file] = "# x\n"
				if link {
					files[file] = "-> " + target
				}
				if name == "too large" {
					files[file] = strings.Repeat("x", program.MaxBytes+1)
				}
			}
			root := programFiles(t, files)
			outside := filepath.Join(filepath.Dir(root), "outside")
			require.NoError(t, os.Mkdir(outside, 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(outside, "program.md"), nil, 0o600))
			require.NoError(t, os.WriteFile(outside+".md", nil, 0o600))
			programs, err := memory.Programs{Root: root}.Load(false)
			require.NoError(t, err)
			assert.Equal(t, at.Replace(c.want), strings.Join(listed(programs), "\n"))
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
