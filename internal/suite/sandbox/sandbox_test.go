package sandbox_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/suite/sandbox"
)

func TestSandboxIsTheFixtureWithTheConfiguration(t *testing.T) {
	t.Parallel()
	fixture := newDir(t, map[string]string{
		"src/a.txt": "a\n", "AGENTS.md": "of the fixture\n", "OLD.md": "goes\n", "KEPT.md": "the fixture's own\n",
		".git/config": "no\n", "sub/.git/HEAD": "no\n", "task.json": "{}", ".claude": "a file in the way\n",
	})
	fixture.put("run.sh", "#!/bin/sh\n", 0o755)
	fixture.put("data.bin", "\x00\xff\xfe", 0o444)
	fixture.link("src/a.txt", "inside")
	configuration := newDir(t, map[string]string{"AGENTS.md": "new\n", "other.txt": "no configuration\n"})
	configuration.put(".claude/hook.sh", "\x7fELF\x00", 0o755)
	configuration.link("AGENTS.md", "CLAUDE.md")
	o := overlay(t, configuration)
	o.Against(overlay(t, newDir(t, map[string]string{"OLD.md": "x", "AGENTS.md": "x"})))

	base := t.TempDir()
	template, err := sandbox.Prepare(t.Context(), filepath.Join(base, "template"), sandbox.Fixture{
		Name: "fixture", Dir: fixture.path, Leave: func(path string) bool { return path == "task.json" },
	}, o)
	require.NoError(t, err)
	box, err := maker().Open(t.Context(), filepath.Join(base, "box"), template, nil)
	require.NoError(t, err)
	assert.Equal(t, map[string]string{
		"src/a.txt": "a\n", "AGENTS.md": "new\n", "KEPT.md": "the fixture's own\n", "inside": "-> src/a.txt",
		"CLAUDE.md": "-> AGENTS.md",
		"run.sh":    "-rwxr-xr-x #!/bin/sh\n", "data.bin": "-r--r--r-- \x00\xff\xfe",
		".claude/hook.sh": "-rwxr-xr-x \x7fELF\x00",
	}, dir{t, box.Dir}.has())
	require.NoError(t, box.Close())
	assert.NoDirExists(t, filepath.Join(base, "box"))
}

func TestEveryCopyIsFresh(t *testing.T) {
	t.Parallel()
	fixture := newDir(t, map[string]string{"a.txt": "a\n"})
	base := t.TempDir()
	template, err := sandbox.Prepare(t.Context(), filepath.Join(base, "template"),
		sandbox.Fixture{Name: "fixture", Dir: fixture.path}, nil)
	require.NoError(t, err)
	first, err := maker().Open(t.Context(), filepath.Join(base, "1"), template, nil)
	require.NoError(t, err)
	dir{t, first.Dir}.put("a.txt", "changed", 0o644)
	second, err := maker().Open(t.Context(), filepath.Join(base, "2"), template, nil)
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"a.txt": "a\n"}, dir{t, second.Dir}.has())

	require.NoError(t, os.WriteFile(filepath.Join(template.Dir, "a.txt"), []byte("b\n"), 0o600))
	_, err = maker().Open(t.Context(), filepath.Join(base, "3"), template, nil)
	require.ErrorContains(t, err, `copy "a.txt": it changed while it was`)
	assert.NoDirExists(t, filepath.Join(base, "3"))
}

func TestDigestTellsContentModeAndPathsApart(t *testing.T) {
	t.Parallel()
	digest := func(change func(d dir)) string {
		d := newDir(t, map[string]string{"a.txt": "a\n", "b/c": ""})
		change(d)
		template, err := sandbox.Prepare(t.Context(), filepath.Join(t.TempDir(), "x"),
			sandbox.Fixture{Dir: d.path}, nil)
		require.NoError(t, err)
		return template.Manifest.Digest()
	}
	same := digest(func(dir) {})
	assert.Equal(t, same, digest(func(dir) {}))
	for name, change := range map[string]func(d dir){
		"content": func(d dir) { d.put("a.txt", "b\n", 0o644) },
		"mode":    func(d dir) { d.put("a.txt", "a\n", 0o755) },
		"path":    func(d dir) { d.put("d.txt", "a\n", 0o644) },
		"link":    func(d dir) { d.link("a.txt", "l") },
	} {
		assert.NotEqual(t, same, digest(change), name)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	outside := newDir(t, map[string]string{"secret": "s"})
	for name, test := range map[string]struct {
		fixture, configuration func(d dir)
		want                   string
	}{
		"absolute link in the fixture": {
			fixture: func(d dir) { d.link(outside.at("secret"), "l") },
			want:    `fixture: "l" is a link that leaves the`,
		},
		"link upwards": {
			fixture: func(d dir) { d.link("../../etc/passwd", "sub/l") },
			want:    `fixture: "sub/l" is a link that leaves`,
		},
		"link through a link": {
			fixture: func(d dir) {
				d.put("deep/er/x", "", 0o644)
				d.link("deep/er", "hop")
				d.link("hop/../../../x", "l")
			},
			want: `fixture: "l" is a link that leaves the`,
		},
		"link round in circles": {
			fixture: func(d dir) { d.link("b", "a"); d.link("a", "b") },
			want:    "link that leaves the sandbox or cannot",
		},
		"link in the configuration": {
			configuration: func(d dir) { d.link("/etc/passwd", "A.md") },
			want:          `candidate: "A.md" is a link that leaves`,
		},
		"dangling configuration": {configuration: func(d dir) {
			d.put("notes.txt", "", 0o644)
			d.link("notes.txt", "A.md")
		}, want: `"A.md" is a link to "notes.txt", which`},
		"way out made by both together": {
			fixture:       func(d dir) { d.put("sub/x", "", 0o644); d.link("q/../../y", "sub/l") },
			configuration: func(d dir) { d.link("../..", "sub/q.md") },
			want:          `candidate: "sub/q.md" is a link that`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fixture, configuration := newDir(t, nil), newDir(t, nil)
			if test.fixture != nil {
				test.fixture(fixture)
			}
			if test.configuration != nil {
				test.configuration(configuration)
			}
			o, err := sandbox.ReadOverlay(t.Context(), "candidate", configuration.path, anything{})
			require.NoError(t, err)
			if name == "dangling configuration" {
				o = overlay(t, configuration)
			}
			_, err = sandbox.Prepare(t.Context(), filepath.Join(t.TempDir(), "x"),
				sandbox.Fixture{Name: "fixture", Dir: fixture.path}, o)
			var refused *sandbox.PathError
			require.ErrorAs(t, err, &refused)
			assert.ErrorContains(t, err, test.want)
		})
	}
}

func TestConfigurationDoesNotWriteThroughTheFixturesLinks(t *testing.T) {
	t.Parallel()
	fixture := newDir(t, map[string]string{"docs/x.md": "kept\n", "real/y": "kept\n"})
	fixture.link("docs/x.md", "AGENTS.md")
	fixture.link("real", ".claude")
	configuration := newDir(t, map[string]string{"AGENTS.md": "new\n", ".claude/y": "new\n"})
	_, in := open(t, fixture, overlay(t, configuration))
	assert.Equal(t, map[string]string{
		"docs/x.md": "kept\n", "real/y": "kept\n", "AGENTS.md": "new\n",
		".claude/y": "new\n",
	}, in.has())
}
