package process_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/tests/long"
)

// layout is a way in which people lay out their home, their programs and their
// caches.
type layout struct {
	home string   // as in HOME; "" is that of newPlace
	path []string // directories of programs, below the home of newPlace
	env  []string // caches; HOME in them is the home of newPlace
	// warns is what is said of an entry of PATH that is left out; "" is nothing.
	warns string
	// kept is a store that may be read-only where there are no overlays, since
	// something is in it.
	kept string
	// before changes the home.
	before func(t *testing.T, home string)
}

var layouts = map[string]layout{
	"nothing is there yet": {},
	"programs and caches below .local": {
		path: []string{".local/bin"}, env: []string{
			"GOPATH=HOME/.local/share/go",
			"GRADLE_USER_HOME=HOME/.local/gradle/user", "GOCACHE=HOME/.local/cache",
		},
	},
	"programs in the home itself": {path: []string{"", "bin"}, warns: "is left out of PATH"},
	"a link to the home in PATH": {
		path: []string{"mine"}, warns: "is left out of PATH",
		before: func(t *testing.T, home string) {
			t.Helper()
			require.NoError(t, os.Symlink(home, filepath.Join(home, "mine")))
		},
	},
	"caches outside the home": {env: []string{
		"GOPATH=/usr/share/autoloop-none/go",
		"GRADLE_USER_HOME=/autoloop-none/gradle", "PIP_CACHE_DIR=/proc/none",
	}},
	"the home is the root":            {home: "/", env: []string{"GOPATH=/autoloop-none/go"}},
	"the home does not exist":         {home: "/nonexistent/user"},
	"the home is the workspace of Go": {env: []string{"GOPATH=HOME"}},
	"a cache below another": {
		kept: "GOPATH",
		env:  []string{"GOMODCACHE=HOME/go/pkg/mod", "GOPATH=HOME/go"},
		before: func(t *testing.T, home string) {
			t.Helper()
			require.NoError(t, os.MkdirAll(filepath.Join(home, "go", "bin"), 0o755)) //nolint:gosec // Programs.
		},
	},
}

// TestIsolationWorksWithAnyLayout: commands can write to every cache, also to one
// that is not there yet and has no place in the view; nothing of the home is
// shown, and nothing is made in it.
func TestIsolationWorksWithAnyLayout(t *testing.T) {
	long.Only(t, long.Hostile)
	t.Parallel()
	const script = `
for name in GOPATH GOMODCACHE GOCACHE npm_config_cache PIP_CACHE_DIR UV_CACHE_DIR CARGO_HOME RUSTUP_HOME GRADLE_USER_HOME; do
  eval "dir=\${$name:-}"; dir=${dir%%:*}
  if [ -n "$dir" ] && [ "$name" != "$KEPT" ]; then { mkdir -p "$dir/made" && echo x >"$dir/made/x"; } || echo "failed: $name=$dir"; fi
done
mkdir -p "${GOMODCACHE:-$GOPATH/pkg/mod}/made"
cat "$REAL/notes" 2>/dev/null; ls "$PROGRAMS" >/dev/null 2>&1 && hello; true`
	for method, how := range methods(t) {
		for name, l := range layouts {
			t.Run(method+"/"+name, func(t *testing.T) {
				t.Parallel()
				p := newPlace(t)
				for _, dir := range []string{".cache", ".cargo"} {
					require.NoError(t, os.RemoveAll(filepath.Join(p.home, dir)))
				}
				caller, programs := l.caller(t, p)
				runner, here := process.NewRunner(), *how
				here.Home = process.Getenv(caller, "HOME")
				runner.Isolation = &here
				env := append(process.Environment(caller, p.own, nil), "REAL=../../home", "PROGRAMS="+programs,
					"KEPT="+l.kept) // not whole: a variable that names a path shows it
				before := entries(t, p.home)
				result := must(runner.Run(t.Context(),
					process.Spec{Args: []string{"sh", "-c", script}, Dir: p.tree, Env: env, Timeout: time.Minute}))
				want := ""
				if programs != "" {
					want = "hello\n"
				}
				assert.Equal(t, want, string(result.Stdout)+string(result.Stderr))
				assert.Equal(t, before, entries(t, p.home))
				warnings := strings.Join(here.Warnings(env), "\n")
				if l.warns == "" {
					assert.Empty(t, warnings)
				} else {
					assert.Contains(t, warnings, l.warns)
				}
			})
		}
	}
}

// caller is the environment of the caller, and the directory whose program is to
// be found.
func (l layout) caller(t *testing.T, p place) (env []string, programs string) {
	t.Helper()
	path := ""
	for _, dir := range l.path {
		path += filepath.Join(p.home, dir) + ":"
		if dir == "" || dir == "mine" {
			continue
		}
		programs = "../../home/" + dir
		real := filepath.Join(p.home, dir)
		require.NoError(t, os.MkdirAll(real,
			0o755)) //nolint:gosec // Programs.
		require.NoError(t, os.WriteFile(filepath.Join(real, "hello"), []byte("#!/bin/sh\necho hello\n"),
			0o755)) //nolint:gosec // A program.
	}
	if l.before != nil {
		l.before(t, p.home)
	}
	home := l.home
	if home == "" {
		home = p.home
	}
	env = []string{"HOME=" + home, "PATH=" + path + os.Getenv("PATH")}
	for _, variable := range l.env {
		env = append(env, strings.ReplaceAll(variable, "=HOME", "="+p.home))
	}
	return env, programs
}

// entries are all paths below a directory.
func entries(t *testing.T, dir string) []string {
	t.Helper()
	var found []string
	require.NoError(t, filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		found = append(found, path)
		return err
	}))
	return found
}
