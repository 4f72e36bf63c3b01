package checkout_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/program/checkout"
	"github.com/org/autoloop/tests/golden"
	"github.com/org/autoloop/tests/testdir"
)

// listed is how programs are named in the expectations: name, file, and the first error.
func listed(programs ...*program.Program) string {
	var list []string
	for _, p := range programs {
		line := p.Name + " " + p.File
		if len(p.Errors()) > 0 {
			line += " ! " + p.Errors()[0].Message
		}
		list = append(list, line)
	}
	return strings.Join(list, "\n")
}

// TestProgramsAreFoundInTheirPlaces: the rows name files, of which @ is the directory of programs, perhaps after
// another directory that was named.
func TestProgramsAreFoundInTheirPlaces(t *testing.T) {
	t.Parallel()
	golden.Table(t, map[string]string{
		"nothing":                              "README.md",
		"no programs":                          "@",
		"files and directories":                "@b.md @a/program.md @c.md",
		"README is no program":                 "@README.md @readme.md @a.md",
		"other files are no programs":          "@a.txt @.b.md @c/eval.sh @d/",
		"one name twice":                       "@a.md @a/program.md @a-b.md @a.b/program.md",
		"a directory beside without a program": "@a.md @a/eval.sh",
		"a directory named like a file":        "@x.md/program.md @b.md",
		"upper case":                           "@a.MD",
		"no slug":                              "@My.md @b.md",
		"program.md is a dir":                  "@a/program.md/",
		"too large":                            "@large.md",
		"single":                               ".autoloop/program.md program.md",
		"single at the top":                    "program.md @README.md",
		"single is the last":                   "program.md .autoloop/program.md @a.md",
		"a link within":                        "@a.md->../../docs/a.md docs/a.md",
		"a link up and out":                    "@a.md->../../../outside.md",
		"a link to nothing":                    "@a.md->nothing.md",
		"a link to itself":                     "@a.md->a.md",
		"a device":                             "@a.md->/dev/zero",
		"a linked directory":                   "@a->../../docs docs/program.md",
		"a directory linked out":               "@a->../../../outside",
		"single linked out":                    "program.md->../outside.md",
		"all are linked out":                   ".autoloop/programs->../../outside",
		"named":                                "progs // progs/a.md @b.md program.md",
		"named otherwise":                      "./progs/ // progs/a.md @b.md program.md",
		"named in full":                        "ROOT/dir/progs // progs/a.md @b.md program.md",
		"named, and empty":                     "empty // empty/ @b.md program.md",
		"named, and not there":                 "nowhere // @b.md program.md",
		"named, and a file":                    "program.md // @b.md program.md",
		"named, with a directory linked out":   "../outside // ../outside/f->../other ../other/program.md",
		"named, of elsewhere": "../outside // ../outside/c/program.md ../outside/d.md->c/program.md " +
			"../outside/e.md->../../e.md",
	}, func(t *testing.T, row string) any {
		dir, row, named := strings.Cut(row, " // ")
		if !named {
			dir, row = "", dir
		}
		files := map[string]string{"../outside/program.md": "", "../outside.md": ""}
		for _, file := range strings.Fields(strings.ReplaceAll(row, "@", ".autoloop/programs/")) {
			file, target, link := strings.Cut(file, "->")
			files[file] = "# x\n"
			if link {
				files[file] = "-> " + target
			} else if strings.Contains(file, "large") {
				files[file] = strings.Repeat("x", program.MaxBytes+1)
			}
		}
		root := testdir.New(t, files)
		programs, err := checkout.Programs{
			Root: root,
			Dir:  strings.ReplaceAll(dir, "ROOT", filepath.Dir(root)),
		}.Load(
			false,
		)
		text := listed(programs...)
		if err != nil {
			text = filepath.ToSlash(err.Error())
		}
		return strings.ReplaceAll(text, filepath.ToSlash(filepath.Dir(root)), "ROOT")
	})
}

func TestFindProgram(t *testing.T) {
	t.Parallel()
	source := checkout.Programs{Root: testdir.New(t, testdir.Files{
		".autoloop/programs/a.md": "# x\n", ".autoloop/programs/b.md": "# x\n",
		".autoloop/programs/b/program.md": "# x\n",
	})}
	for name, problem := range map[string]bool{"a": false, "b": true} {
		p, err := source.Find(name)
		require.NoError(t, err)
		assert.Equal(t, name, p.Name)
		assert.Equal(t, problem, p.Err() != nil)
	}
	p, err := source.Find("c")
	require.NoError(t, err)
	assert.Nil(t, p)
	single := checkout.Programs{Root: testdir.New(t, testdir.Files{"program.md": "# x\n"})}
	programs, err := single.Load(true)
	require.NoError(t, err)
	assert.Empty(t, programs, "there are issue programs")
}

func TestProgramFileByPath(t *testing.T) {
	t.Parallel()
	root := testdir.New(t, testdir.Files{"x/speed.md": "# x\n", "l.md": "-> ../y.md", "../y.md": "# x\n"})
	for _, file := range []string{"x/speed.md", "l.md", "."} {
		golden.Row(t, file, listed(checkout.Programs{Root: root}.File(filepath.Join(root, file))))
	}
	p := checkout.Programs{Root: root}.File(filepath.Join(root, "../y.md"))
	assert.NoError(t, p.Err(), "a file that was named may be anywhere")
}

// TestPlacesOfPrograms: where they may be, and which files may be some.
func TestPlacesOfPrograms(t *testing.T) {
	t.Parallel()
	source := checkout.Programs{Root: "/repo"}
	assert.Equal(t, []string{".autoloop/program.md", "program.md", ".autoloop/programs"}, source.Places())
	for file, want := range map[string]bool{
		"program.md": true, ".autoloop/programs/p.md": true, ".autoloop/programs/p/program.md": true,
		".autoloop/programs/p.txt": false, ".autoloop/programs/p/other.md": false, "docs/p.md": false,
	} {
		assert.Equal(t, want, source.MayBe(file), file)
	}
	assert.True(t, checkout.Single(&program.Program{File: "program.md"}))
	assert.False(t, checkout.Single(&program.Program{File: ".autoloop/programs/p.md"}))
}
