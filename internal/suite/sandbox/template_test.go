package sandbox_test

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/suite"
	"github.com/org/autoloop/internal/suite/sandbox"
	"github.com/org/autoloop/tests/testbox"
)

func TestSandboxIsTheFixtureWithTheConfiguration(t *testing.T) {
	t.Parallel()
	fixture := newDir(t, files{
		"src/a.txt": "a\n", "AGENTS.md": "of the fixture\n", "OLD.md": "goes\n", "KEPT.md": "the fixture's own\n",
		".git/config": "no\n", "sub/.git/HEAD": "no\n", "task.json": "{}", ".claude": "a file in the way\n",
		"run.sh": "-rwxr-xr-x #!/bin/sh\n", "data.bin": "-r--r--r-- \x00\xff\xfe", "inside": "-> src/a.txt",
	})
	o := overlay(t, files{
		"AGENTS.md": "new\n", "other.txt": "no configuration\n", "CLAUDE.md": "-> AGENTS.md",
		".claude/hook.sh": "-rwxr-xr-x \x7fELF\x00",
	})
	o.Against(overlay(t, files{"OLD.md": "x", "AGENTS.md": "x"}))
	base := t.TempDir()
	template, err := sandbox.Compose(t.Context(), filepath.Join(base, "template"), "fixture", []sandbox.Fixture{{
		Name: "fixture", Dir: fixture.path, Leave: func(path string) bool { return path == "task.json" },
	}}, o)
	require.NoError(t, err)
	box, err := testbox.Maker().Open(t.Context(), filepath.Join(base, "box"), template.Copy, nil)
	require.NoError(t, err)
	assert.Equal(t, files{
		"src/a.txt": "a\n", "AGENTS.md": "new\n", "KEPT.md": "the fixture's own\n", "inside": "-> src/a.txt",
		"CLAUDE.md": "-> AGENTS.md", "run.sh": "-rwxr-xr-x #!/bin/sh\n", "data.bin": "-r--r--r-- \x00\xff\xfe",
		".claude/hook.sh": "-rwxr-xr-x \x7fELF\x00", "sub/": "",
	}, dir{t, box.Dir}.has())
	require.NoError(t, box.Close())
	assert.NoDirExists(t, filepath.Join(base, "box"))
}

// TestOverlays write through no link of the fixture, and remove the files that the other
// configuration has alone; nothing else.
func TestOverlays(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ fixture, mine, others, left files }{
		"links of the fixture": {
			files{"docs/x.md": "kept", "real/y": "kept", "AGENTS.md": "-> docs/x.md", ".claude": "-> real"},
			files{"AGENTS.md": "new", ".claude/y": "new"},
			nil,
			files{"docs/x.md": "kept", "real/y": "kept", "AGENTS.md": "new", ".claude/y": "new"},
		},
		"the only one of its directories": {
			files{".claude/a/b/c": "x", "b": "x"}, nil, files{".claude/a/b/c": "x"}, files{".claude/a/b/": "", "b": "x"},
		},
		"a directory of that name": {files{"A.md/own": "x"}, nil, files{"A.md": "x"}, files{"A.md/own": "x"}},
		"a link of that name":      {files{"A.md": "-> own", "own": "x"}, nil, files{"A.md": "x"}, files{"own": "x"}},
		"a link on the way": {
			files{".claude": "-> own", "own/a": "x"},
			nil,
			files{".claude/a": "x"},
			files{".claude": "-> own", "own/a": "x"},
		},
		"a file on the way": {files{".claude": "x"}, nil, files{".claude/a": "x"}, files{".claude": "x"}},
	} {
		mine := overlay(t, c.mine)
		mine.Against(overlay(t, c.others))
		template, err := prepare(t, newDir(t, c.fixture), mine)
		require.NoError(t, err)
		assert.Equal(t, c.left, dir{t, template.Dir}.has(), name)
	}
}

func TestEveryCopyIsFresh(t *testing.T) {
	t.Parallel()
	template, err := prepare(t, newDir(t, files{"a.txt": "a\n"}), nil)
	require.NoError(t, err)
	base := t.TempDir()
	first, err := testbox.Maker().Open(t.Context(), filepath.Join(base, "1"), template.Copy, nil)
	require.NoError(t, err)
	dir{t, first.Dir}.put(files{"a.txt": "changed"})
	second, err := testbox.Maker().Open(t.Context(), filepath.Join(base, "2"), template.Copy, nil)
	require.NoError(t, err)
	assert.Equal(t, files{"a.txt": "a\n"}, dir{t, second.Dir}.has())

	dir{t, template.Dir}.put(files{"a.txt": "b\n"})
	_, err = testbox.Maker().Open(t.Context(), filepath.Join(base, "3"), template.Copy, nil)
	require.ErrorContains(t, err, `copy "a.txt": it changed while it was`)
	assert.NoDirExists(t, filepath.Join(base, "3"))
}

func TestDigestTellsContentModeAndPathsApart(t *testing.T) {
	t.Parallel()
	digest := func(changed files) string {
		list := files{"a.txt": "a\n", "b/c": ""}
		maps.Copy(list, changed)
		template, err := prepare(t, newDir(t, list), nil)
		require.NoError(t, err)
		return template.Manifest.Digest()
	}
	same := digest(nil)
	assert.Equal(t, same, digest(nil))
	for name, changed := range map[string]files{
		"content": {"a.txt": "b\n"}, "mode": {"a.txt": "-rwxr-xr-x a\n"}, "path": {"d.txt": "a\n"}, "link": {"l": "-> a.txt"},
	} {
		assert.NotEqual(t, same, digest(changed), name)
	}
}

// TestRefused: what leads out of a sandbox, is special, too deep or too large, where it would be
// copied and nowhere else.
func TestRefused(t *testing.T) {
	t.Parallel()
	secret := newDir(t, files{"secret": "s"}).at("secret")
	deep := strings.Repeat("d/", 64)
	for name, c := range map[string]struct {
		fixture, configuration files
		want                   string
	}{
		"absolute link in the fixture": {files{"l": "-> " + secret}, nil, `fixture: "l" is a link that leaves the`},
		"absolute link to nothing":     {files{"l": "-> /none/at/all"}, nil, `fixture: "l" is a link that leaves the`},
		"upwards to nothing":           {files{"l": "-> none/../../x"}, nil, `fixture: "l" is a link that leaves the`},
		"link upwards": {
			files{"sub/l": "-> ../../etc/passwd"}, nil, `fixture: "sub/l" is a link that leaves`,
		},
		"link through a link": {
			files{"deep/er/x": "", "hop": "-> deep/er", "l": "-> hop/../../../x"},
			nil,
			`fixture: "l" is a link that leaves the`,
		},
		"link round in circles": {files{"a": "-> b", "b": "-> a"}, nil, "link that leaves the sandbox or cannot"},
		"link in the configuration": {
			nil, files{"A.md": "-> /etc/passwd"}, `candidate: "A.md" is a link that leaves`,
		},
		"dangling configuration": {
			nil, files{"notes.txt": "", "A.md": "-> notes.txt"}, `"A.md" is a link to "notes.txt", which`,
		},
		"way out made by both together": {
			files{".claude/x": "", ".claude/l": "-> q/../../y"},
			files{".claude/q": "-> ../.."},
			`candidate: ".claude/q" is a link that`,
		},
		"way out by the other's link to a directory": {
			files{"x/f": "", ".claude/l": "-> q/../../y"},
			files{".claude/q": "-> ../x"},
			`fixture: ".claude/l" is a link`,
		},
		"pipe": {
			files{"A.md": "|"}, nil, `fixture: "A.md" is neither a file nor`,
		},
		"pipe in the configuration": {
			nil, files{"A.md": "|"}, `candidate: "A.md" is neither a file nor`,
		},
		"deep pipe":                      {files{"a/b/c": "|"}, nil, `fixture: "a/b/c" is neither`},
		"deep pipe in the configuration": {nil, files{".claude/a": "|"}, `candidate: ".claude/a" is neither`},
		"pipe where no configuration is": {nil, files{"docs/A.md": "|"}, ""},
		"pipe in a git directory":        {files{".git/pipe": "|"}, files{".git/pipe": "|"}, ""},
		"pipe in another git directory":  {files{"sub/.GIT/pipe": "|"}, files{"sub/.GIT/pipe": "|"}, ""},
		"as deep as may be":              {files{deep: ""}, nil, ""},
		"deeper":                         {files{deep + "d/": ""}, nil, `/d" is too deep`},
		"as large as may be":             {nil, files{"0.md": "size 62914560", "1.md": "size 4194304"}, ""},
		"larger together": {
			nil,
			files{"0.md": "size 62914560", "1.md": "size 4194304", "2.md": "size 1"},
			"makes it larger than 67108864 bytes",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fixture := newDir(t, c.fixture)
			o, err := sandbox.ReadOverlay(t.Context(), "candidate", newDir(t, c.configuration).path, config())
			if err == nil {
				_, err = prepare(t, fixture, o)
			}
			if c.configuration == nil {
				assert.Equal(t, err, sandbox.Inspect(t.Context(), sandbox.Fixture{Name: "fixture", Dir: fixture.path}))
			}
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			var refused *misuse.Error
			require.ErrorAs(t, err, &refused)
			require.ErrorContains(t, err, c.want)
		})
	}
	_, err := sandbox.ReadOverlay(t.Context(), "candidate", newDir(t, nil).at("none"), config())
	require.ErrorContains(t, err, "open the candidate: ")
}

// TestHowACopyIsMade: permissions and times are the fixture's, whoever runs it can work in
// every directory, and nothing gains a right that only its owner was to have.
func TestHowACopyIsMade(t *testing.T) {
	t.Parallel()
	list := files{
		"a": "a", "b/private": "-rw------- a", "b/runs": "-rwxr-xr-x a", "c/readonly": "-r--r--r-- a",
		"c/own": "-r-------- a", "d/setuid": "-rwxr-xr-x a", "d/all": "-rwxrwxrwx a", "empty/": "",
	}
	fixture := newDir(t, list)
	long := time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)
	for name := range list {
		require.NoError(t, os.Chtimes(fixture.at(name), long, long))
	}
	require.NoError(t, os.Chmod(fixture.at("d/setuid"), 0o755|fs.ModeSetuid))
	dirs := map[string][2]fs.FileMode{
		"b": {0o711, 0o711}, "c": {0o555, 0o755}, "d": {0o777, 0o777}, "empty": {0o500, 0o700},
	}
	for name, mode := range dirs {
		require.NoError(t, os.Chmod(fixture.at(name), mode[0]))
		t.Cleanup(func() { _ = os.Chmod(fixture.at(name), 0o755) }) //nolint:gosec // so that it can be removed
	}
	template, err := prepare(t, fixture, nil)
	require.NoError(t, err)
	box, err := testbox.Maker().Open(t.Context(), filepath.Join(t.TempDir(), "box"), template.Copy, nil)
	require.NoError(t, err)
	in := dir{t, box.Dir}
	assert.Equal(t, list, in.has())
	info := func(name string) fs.FileInfo {
		info, err := os.Lstat(in.at(name))
		require.NoError(t, err)
		return info
	}
	for name, mode := range dirs {
		assert.Equal(t, fs.ModeDir|mode[1], info(name).Mode(), name)
	}
	for name := range list {
		assert.True(t, info(name).IsDir() || info(name).ModTime().Equal(long), name)
	}
	assert.Zero(t, info("d/setuid").Mode()&fs.ModeSetuid)
	assert.Equal(t, fs.ModeDir|0o700, info(".").Mode(), "nobody else looks into a sandbox")
	changes, err := box.Changes(t.Context())
	require.NoError(t, err)
	assert.Empty(t, changes, "a copy is no change")
}

// TestSandboxOfParts, each at its place, with empty directories besides.
func TestSandboxOfParts(t *testing.T) {
	t.Parallel()
	one := newDir(t, files{"a.txt": "1", "d/b.txt": "2", ".git/config": "no"})
	part := func(at string, d dir) sandbox.Fixture {
		return sandbox.Fixture{
			At: at, Name: "part " + at, Dir: d.path, Leave: func(path string) bool { return path == "task.json" },
		}
	}
	compose := func(parts ...sandbox.Fixture) (*sandbox.Template, error) {
		return sandbox.Compose(
			t.Context(),
			filepath.Join(t.TempDir(), "x"),
			"sandbox",
			parts,
			nil,
			"outputs",
			"deep/er",
		)
	}
	template, err := compose(part(".", one),
		part("skills/s", newDir(t, files{"c.sh": "-rwxr-xr-x 3", "task.json": "no"})))
	require.NoError(t, err)
	assert.Equal(t, files{
		"a.txt": "1", "d/b.txt": "2", "skills/s/c.sh": "-rwxr-xr-x 3", "outputs/": "", "deep/er/": "",
	}, dir{t, template.Dir}.has())

	for says, parts := range map[string][]sandbox.Fixture{
		`part x: copy "a.txt"`: {part("x", one), part("x", newDir(t, files{"a.txt": "other"}))},
		"make deep/er: ":       {part(".", newDir(t, files{"deep": "a file"}))},
		"part ../x: ":          {part("../x", one)},
		"leaves the sandbox":   {part(".", one), part("skills/s", newDir(t, files{"up": "-> ../a.txt"}))},
		"is neither a file":    {part("s", newDir(t, files{"pipe": "|"}))},
	} {
		_, err = compose(parts...)
		require.ErrorContains(t, err, says)
	}
}

// TestSandboxCannotBeMade leaves nothing behind, and takes no place of others.
func TestSandboxCannotBeMade(t *testing.T) {
	t.Parallel()
	base, fixture := t.TempDir(), newDir(t, files{"a/b": "x"})
	template, err := prepare(t, fixture, nil)
	require.NoError(t, err)
	broken, held := errors.New("no home here"), errors.New("it is held")
	ended, stop := context.WithCancelCause(t.Context())
	stop(errors.New("stopped"))
	open := func(ctx context.Context, change func(*sandbox.Maker)) error {
		m := testbox.Maker()
		change(m)
		_, err := m.Open(ctx, filepath.Join(base, "box"), template.Copy, nil)
		assert.NoDirExists(t, filepath.Join(base, "box"))
		return err
	}
	homeless := func(m *sandbox.Maker) {
		m.Environ = func(string, []string) ([]string, error) { return nil, broken }
	}
	require.ErrorIs(t, open(t.Context(), homeless), broken)
	require.ErrorContains(t, open(ended, func(*sandbox.Maker) {}), "stopped")
	err = open(t.Context(), func(m *sandbox.Maker) {
		homeless(m)
		m.Remove = func(dir string) error { return errors.Join(os.RemoveAll(dir), held) }
	})
	require.ErrorIs(t, err, broken)
	require.ErrorIs(t, err, held, "both are said")

	prepared := func(ctx context.Context, at string) error {
		source := sandbox.Fixture{Name: "fixture of t", Dir: fixture.at(at)}
		_, err := sandbox.Compose(ctx, template.Dir, source.Name, []sandbox.Fixture{source}, nil)
		return errors.Join(err, sandbox.Inspect(ctx, source))
	}
	require.ErrorIs(t, prepared(t.Context(), "."), os.ErrExist, "what is there is not written over")
	require.NoError(t, os.RemoveAll(template.Dir))
	require.ErrorIs(t, open(t.Context(), func(*sandbox.Maker) {}), os.ErrNotExist)
	require.ErrorContains(t, prepared(ended, "."), "stopped")
	require.NoError(t, os.RemoveAll(template.Dir))
	assert.Equal(t, 2, strings.Count(prepared(t.Context(), "none").Error(), "open the fixture of t: "))
}

func TestConfigurationThatChangedIsNotLaid(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(d dir){
		"it changed while it was copied": func(d dir) { d.put(files{"A.md": "y"}) },
		"no such file or directory":      func(d dir) { _ = os.RemoveAll(d.path) },
	} {
		o := overlay(t, files{"A.md": "x"})
		change(dir{t, o.Dir})
		_, err := prepare(t, newDir(t, nil), o)
		require.ErrorContains(t, err, want)
	}
}

func TestFindTasks(t *testing.T) {
	t.Parallel()
	deep := func(n int) string { return strings.Repeat("d/", n) + "task.json" }
	elsewhere := newDir(t, files{"task.json": "{}"}).path
	for name, c := range map[string]struct {
		files files
		finds string
	}{
		"below the top, sorted, and not in another": {files{
			"b/task.json": "{}", "a/deep/task.json": "[]", "a/deep/fixture/task.json": "the fixture's own",
			"README.md": "", ".git/task.json": "no", "node_modules/x/task.json": "no", "linked": "-> b",
		}, "a/deep/task.json b/task.json"},
		"a task at the top":            {files{"task.json": "{}", "a/task.json": "{}"}, "task.json"},
		"as deep as is looked":         {files{deep(9): "{}"}, deep(9)},
		"deeper":                       {files{deep(10): "{}"}, ""},
		"git directories of all names": {files{".GIT/task.json": "{}", "git~1/task.json": "{}"}, ""},
		"a link out of the suite":      {files{"a/task.json": "-> /etc/passwd"}, "!"},
		"a directory that is a link":   {files{"a": "-> " + elsewhere}, ""},
		"more than a task may have":    {files{"a/task.json": "size 3145728"}, "a/task.json"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDir(t, c.files)
			found, err := sandbox.FindTasks(d.path)
			if c.finds == "!" {
				require.ErrorContains(t, err, "read the task suite "+d.path)
				require.ErrorContains(t, err, "task.json")
				return
			}
			require.NoError(t, err)
			for path, data := range found.List {
				assert.LessOrEqual(t, len(data), 2<<20, "the parser refuses less")
				assert.True(t, strings.HasPrefix(c.files[path], "size") || c.files[path] == string(data))
			}
			assert.Equal(t, c.finds, strings.Join(slices.Sorted(maps.Keys(found.List)), " "))
		})
	}
	_, err := sandbox.FindTasks(newDir(t, nil).at("none"))
	require.ErrorContains(t, err, "open the task suite")
}

// TestFixturesOfASuite are directories reached by no link, and keep the checks from the agent that
// has to pass them.
func TestFixturesOfASuite(t *testing.T) {
	t.Parallel()
	found, err := sandbox.FindTasks(newDir(t, files{
		"a/task.json":     "{}",
		"a/app.js":        "a",
		"a/sub/task.json": "the fixture's own",
		"b/task.json":     "{}",
		"linked":          "-> a",
	}).path)
	require.NoError(t, err)
	for name, is := range map[string]bool{
		".": true, "a": true, "a/sub": true, "linked": false, "linked/sub": false, "none": false, "a/app.js": false,
	} {
		assert.Equal(t, is, found.IsDir(name), name)
	}
	for fixture, want := range map[string]files{
		"a": {"app.js": "a", "sub/task.json": "the fixture's own"},
		".": {"a/app.js": "a", "a/sub/task.json": "the fixture's own", "b/": "", "linked": "-> a"},
	} {
		template, err := sandbox.Compose(t.Context(), filepath.Join(t.TempDir(), "x"), "t",
			[]sandbox.Fixture{found.Fixture(suite.Task{ID: "t", Fixture: fixture})}, nil)
		require.NoError(t, err)
		assert.Equal(t, want, dir{t, template.Dir}.has())
	}
}
