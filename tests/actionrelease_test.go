package tests

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/long"
)

func TestActionGetsARelease(t *testing.T) {
	t.Parallel()
	r := newReleases(t)
	w := newProject(t, nil)
	// A configuration of curl may be a program's.
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(w.dir), "home", ".curlrc"),
		[]byte("header = \"Authorization: mine\"\noutput = /dev/null\n"), 0o600))
	pinned := r.release("1.2.4", archive(t))
	r.release("1.3.0-rc.1", archive(t))
	for version, tag := range map[string]string{
		"": "1.2.3", "1.2.4": "1.2.4", "v1.2.4@sha256:" + pinned: "1.2.4", "v1.3.0-rc.1": "1.3.0-rc.1",
	} {
		r.requests()
		step := w.script(r, "get", map[string]string{"VERSION": version, "+GITHUB_TOKEN": "not-for-downloads"})
		require.Zero(t, step.code, "%q: %s", version, step.log)
		assert.Empty(t, step.outputs, "nothing is to be built")
		assert.Equal(t, []string{asset(tag, "checksums.txt"), asset(tag, archiveName(tag))}, r.requests())
		assert.FileExists(t, filepath.Join(w.side, "autoloop", "bin", "scheduler"))
		assert.NoFileExists(t, filepath.Join(w.side, "autoloop", "bin", "LICENSE"))
		assert.Contains(t, step.log, "iterate devel", "it runs")
	}
}

// TestActionBelievesNoArchive: what is not as its release says is never run, and
// nothing else runs in its place.
func TestActionBelievesNoArchive(t *testing.T) {
	t.Parallel()
	good := archive(t)
	other := fmt.Sprintf("%x  %s\n", sha256.Sum256([]byte("other")), archiveName("1.2.3"))
	right := fmt.Sprintf("%x  %s\n", sha256.Sum256(good), archiveName("1.2.3"))
	for name, c := range map[string]struct {
		sums, archive, version, wants string
	}{
		"another archive":     {right, string(good) + "x", "", "not have the checksum of its release"},
		"a shorter one":       {right, string(good[:100]), "", "not have the checksum of its release"},
		"none of its bytes":   {right, "", "", "not have the checksum of its release"},
		"other checksums":     {other, string(good), "", "not have the checksum of its release"},
		"two checksums":       {right + other, string(good), "", "not have the checksum of its release"},
		"the same, asked for": {other, string(good), "v1.2.3", "not have the checksum of its release"},
		"checksums of no digest": {
			"x  " + archiveName("1.2.3") + "\n", string(good), "",
			"not have the checksum of its release",
		},
		"another digest of these": {
			right, string(good), "1.2.3@sha256:" + strings.Repeat("0", 64),
			"does not have the digest that the input",
		},
		"no archive": {
			fmt.Sprintf("%x  %s\n", sha256.Sum256([]byte("x")), archiveName("1.2.3")), "x", "",
			"is no archive of Autoloop",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newReleases(t)
			w := newProject(t, nil)
			r.put(asset("1.2.3", "checksums.txt"), []byte(c.sums))
			r.put(asset("1.2.3", archiveName("1.2.3")), []byte(c.archive))
			step := w.script(r, "get", map[string]string{"VERSION": c.version})
			assert.Equal(t, 2, step.code, step.log)
			assert.Contains(t, step.log, c.wants)
			assert.Empty(t, step.raw, "and the source is not built instead")
			assert.NoFileExists(t, filepath.Join(w.side, "autoloop", "bin", "iterate"))
			ran := w.script(r, "run", nil)
			assert.Equal(t, 2, ran.code)
			assert.Contains(t, ran.log, "Autoloop was not fetched")
		})
	}
}

// TestActionWithoutARelease builds the source, unless a release was asked for.
func TestActionWithoutARelease(t *testing.T) {
	long.Only(t, long.Builds)
	t.Parallel()
	r := newReleases(t)
	w := newProject(t, nil)
	r.put(asset("1.2.5", "checksums.txt"), []byte(strings.Repeat("0", 64)+"  autoloop_1.2.5_plan9_mips.tar.gz\n"))
	r.put(asset("1.2.6", "checksums.txt"), []byte(strings.Repeat("0", 64)+"  "+archiveName("1.2.6")+"\n"))
	for ref, why := range map[string]string{
		"v9.9.9": "there is no release v9.9.9", "v1.2.5": "the release v1.2.5 has nothing for ",
		"v1.2.6": "cannot be reached (status 404)",
		"v1":     "", "main": "", "": "", "v1.2.3;id": "",
	} {
		r.requests()
		step := w.script(r, "get", map[string]string{"+ACTION_REF": ref})
		require.Zero(t, step.code, "%q: %s", ref, step.log)
		assert.Equal(t, "true", step.outputs["source"], ref)
		assert.Regexp(t, `^autoloop-modules-[0-9a-f]{64}$`, step.outputs["modules-key"])
		assert.Contains(t, step.log, why)
		asked := r.requests()
		assert.Equal(t, why == "", asked == nil, "%q asks for a release only when it names one: %v", ref, asked)
		if why == "" {
			continue
		}
		step = w.script(r, "get", map[string]string{"VERSION": ref})
		assert.Equal(t, 2, step.code, "asked for by the input: %s", step.log)
		assert.Contains(t, step.log, "::error title=Autoloop::")
		assert.Contains(t, step.log, why)
		assert.Empty(t, step.raw)
	}
	r.fail()
	step := w.script(r, "get", map[string]string{"VERSION": "v1.2.3"})
	assert.Equal(t, 2, step.code, step.log)
	assert.Contains(t, step.log, "v1.2.3 cannot be reached (status 502)")
}

// TestActionBuildsItsSource compiles with the modules of the cache alone, and
// refuses one that is not what go.sum says.
func TestActionBuildsItsSource(t *testing.T) {
	long.Only(t, long.Builds)
	t.Parallel()
	r := newReleases(t)
	w := newProject(t, map[string]string{"README.md": "mine\n"})
	cached := moduleCache(t)
	build := func(modules string, more map[string]string) actionStep {
		work := filepath.Join(w.side, "autoloop")
		require.NoError(t, os.MkdirAll(work, 0o755))
		require.NoError(t, os.RemoveAll(filepath.Join(work, "modules")))
		require.NoError(t, os.Symlink(modules, filepath.Join(work, "modules")))
		all := map[string]string{"VERSION": "source", "MODE": "validate", "+GOPROXY": "off", "+GOFLAGS": ""}
		for name, value := range more {
			all[name] = value
		}
		return w.action(r, all)
	}
	step := build(cached, nil)
	require.Zero(t, step.code, step.log)
	assert.Contains(t, step.log, "iterate devel")
	assert.Nil(t, r.requests())
	assert.NoDirExists(t, filepath.Join(w.side, "autoloop", "mod"))

	altered := filepath.Join(t.TempDir(), "modules")
	alterModule(t, cached, altered, "github.com/spf13/cobra")
	step = build(altered, map[string]string{"+GOCACHE": "", "+GOPROXY": "file://" + cached})
	assert.Equal(t, 2, step.code, step.log)
	assert.Contains(t, step.log, "SECURITY ERROR")
	assert.Contains(t, step.log, "the action's source was not built")
}

// moduleCache is where go keeps the archives of modules on this machine.
func moduleCache(t testing.TB) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", "GOMODCACHE").Output()
	require.NoError(t, err)
	return filepath.Join(strings.TrimSpace(string(out)), "cache", "download")
}

// alterModule copies what the cache has of a module, with another archive.
func alterModule(t *testing.T, from, to, module string) {
	t.Helper()
	require.NoError(t, os.CopyFS(filepath.Join(to, module), os.DirFS(filepath.Join(from, module))))
	archives, err := filepath.Glob(filepath.Join(to, module, "@v", "*.zip"))
	require.NoError(t, err)
	require.NotEmpty(t, archives)
	for _, file := range archives {
		require.NoError(t, os.Remove(file))
		require.NoError(t, os.WriteFile(file, emptyZip, 0o600))
	}
}

// emptyZip is an archive of nothing.
var emptyZip = append([]byte("PK\x05\x06"), make([]byte, 18)...)
