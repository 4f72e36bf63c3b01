package process_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/process"
)

func TestCachesStayAsTheyAre(t *testing.T) {
	t.Parallel()
	for name, how := range methods(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			runner := p.isolated(how)
			run := func(script string) string {
				result := must(runner.Run(t.Context(),
					process.Spec{Args: []string{"sh", "-c", script}, Dir: p.tree, Env: p.env()}))
				return string(result.Stdout) + string(result.Stderr)
			}
			right := "right\n"
			if name != "namespaces" {
				right = "" // A copy needs overlays; without them the cache is a new one.
			}
			assert.Equal(t, right, run(`cat "$GOCACHE/entry" 2>/dev/null; echo poisoned > "$GOCACHE/entry"; mkdir -p `+
				`"$GOPATH/pkg"; ls -A "$HOME/.autoloop-caches"`))
			assert.Equal(t, "poisoned\n", run(
				`cat "$GOCACHE/entry"; rm -rf "$GOCACHE"/*; echo poisoned > "$GOCACHE/more"`),
				"the next command of the same measurement")
			open(t, p.own)
			require.NoError(t, os.RemoveAll(p.own))
			require.NoError(t, os.MkdirAll(filepath.Join(p.own, "tmp"), 0o700))
			assert.Equal(t, right, run(`cat "$GOCACHE/entry" 2>/dev/null; cat "$GOCACHE/more" 2>/dev/null`),
				"and the next measurement")
			data := must(os.ReadFile(filepath.Join(p.home, ".cache", "go-build", "entry")))
			assert.Equal(t, "right\n", string(data))
			assert.NoDirExists(t, filepath.Join(p.home, "go"))
		})
	}
}

// TestCachesAreFilled: what the user's own people wrote fills the caches of
// builds, also one that is not there yet, and no others.
func TestCachesAreFilled(t *testing.T) {
	t.Parallel()
	isolated(t, `echo built > "$GOCACHE/built"; echo built > "$npm_config_cache/built"; mkdir -p "$GOPATH/bin"; echo `+
		`x > "$GOPATH/bin/evil"; echo x > "$GRADLE_USER_HOME/x"`,
		func(t *testing.T, p place, _ process.Result) {
			t.Helper()
			assert.FileExists(t, filepath.Join(p.home, ".cache", "go-build", "built"))
			assert.FileExists(t, filepath.Join(p.home, ".npm", "built"))
			assert.NoDirExists(t, filepath.Join(p.home, "go"))
			assert.NoDirExists(t, filepath.Join(p.home, ".gradle"), "there is no gradle")
		}, func(p place, spec *process.Spec) {
			spec.FillCaches = true
			npm := filepath.Join(p.home, ".tools", "bin", "npm")
			assert.NoError(t, os.WriteFile(npm, []byte("#!/bin/sh\n"), 0o755)) //nolint:gosec // A program.
		})
}

// TestIsolatedTemporaryDirectoriesAreBounded: what fills them is in memory, and
// they do not take all of it.
func TestIsolatedTemporaryDirectoriesAreBounded(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for name, how := range methods(t) {
		if how.Bubblewrap != "" {
			continue // not every bwrap can
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runner := process.NewRunner()
			runner.Isolation = how
			result := must(runner.Run(t.Context(), process.Spec{
				Args: []string{"sh", "-c", `df --output=size -k /tmp /var/tmp /dev/shm | tail -n 3; grep MemTotal ` +
					`/proc/meminfo | tr -dc 0-9`}, Dir: p.tree, Env: p.env(),
			}))
			fields := strings.Fields(string(result.Stdout))
			require.Len(t, fields, 4, string(result.Stderr))
			var sizes [4]int
			for i, field := range fields {
				_, err := fmt.Sscan(field, &sizes[i])
				require.NoError(t, err)
			}
			for _, size := range sizes[:3] {
				assert.LessOrEqual(t, size, sizes[3]/4)
			}
		})
	}
}

// TestFixedFilesStay: an isolated command reads them, and can neither write, nor
// replace, nor remove them. What lies beside them it can.
func TestFixedFilesStay(t *testing.T) {
	t.Parallel()
	for name, how := range methods(t) {
		if how.Bubblewrap != "" {
			continue // bwrap follows links
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			for _, file := range []string{"ev.sh", "lib/data", "shared/deep/x"} {
				require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(p.tree, file)), 0o755))
				require.NoError(t, os.WriteFile(filepath.Join(p.tree, file), []byte("as built\n"), 0o755))
			}
			require.NoError(t, os.Symlink(p.outside, filepath.Join(p.tree, "link")))
			require.NoError(t, os.Symlink(filepath.Join(p.outside, "file"), filepath.Join(p.tree, "leaf")))
			runner := process.NewRunner()
			runner.Isolation = how
			script := `cat ev.sh lib/data shared/deep/x
for f in ev.sh lib/data shared/deep/x shared/deep/new shared/new; do
  (echo spoilt > $f) 2>/dev/null && echo "wrote $f"
  chmod 777 $f 2>/dev/null && echo "changed $f"
  echo spoilt > new; mv -f new $f 2>/dev/null && echo "replaced $f"
  rm -f $f 2>/dev/null; [ -e $f ] || { [ $f = shared/new ] || [ $f = shared/deep/new ] || echo "removed $f"; }
done
umount ev.sh 2>/dev/null && echo "unmounted"
mount -o remount,rw,bind ev.sh 2>/dev/null && echo "remounted"
echo mine > lib/new; echo mine > file; cat "link/file" 2>/dev/null && echo "seen"; cat leaf 2>/dev/null && echo "seen"
true`
			result := must(runner.Run(t.Context(), process.Spec{
				Args: []string{"sh", "-c", script}, Dir: p.tree, Env: p.env(),
				Fixed: []string{"ev.sh", "lib/data", "shared", "link/file", "leaf", "gone", "../../outside/file"},
			}))
			assert.Equal(t, "as built\nas built\nas built\n", string(result.Stdout), string(result.Stderr))
			for file, text := range map[string]string{"ev.sh": "as built\n", "lib/new": "mine\n", "file": "mine\n"} {
				data := must(os.ReadFile(filepath.Join(p.tree, file)))
				assert.Equal(t, text, string(data))
			}
		})
	}
}
