package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/scratch"
)

// fitShop is a shop on disk, where an isolated evaluation has a build cache.
func fitShop(t *testing.T) *shop {
	t.Helper()
	disk := scratch.OnDisk(t)
	s := &shop{desk: &desk{
		t: t, root: filepath.Join(disk, "root"), dir: filepath.Join(disk, "home"),
		vars: map[string]string{},
	}, at: time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)}
	for _, dir := range []string{s.root, s.dir, filepath.Join(disk, "tmp")} {
		require.NoError(t, os.Mkdir(dir, 0o755))
	}
	s.more = []string{"TMPDIR=" + filepath.Join(disk, "tmp")}
	s.git("init", "--quiet", "--initial-branch", "main")
	return s
}

func TestNewFit(t *testing.T) {
	t.Parallel()
	s := fitShop(t)
	s.file("Makefile", "test:\n\tsh lib/a.sh\n")
	s.file("lib/a.sh", "sleep 0.1\n") // without it everything is faster
	fit := func(words ...string) answer {
		return s.iterate(append([]string{"init", "--local", "--yes"}, words...)...)
	}
	a := fit("quick")
	assert.Equal(t, 2, a.code)
	assert.Contains(t, a.errors, "no commit yet: commit your files first")
	s.commit()
	a = fit("quick")
	require.Zero(t, a.code, a.errors)
	assert.Contains(t, a.out, "measured: ")
	assert.Contains(t, a.out, "not notice an emptied file (lib/a.sh)")
	assert.Zero(t, s.iterate("validate", "quick").code)
	a = fit("quick")
	assert.Equal(t, 2, a.code)
	assert.Contains(t, a.errors, "exists already")
	a = fit("other", "--kind", "speed")
	assert.Equal(t, 2, a.code)
	assert.Contains(t, a.errors, `kind of program is called "speed": give`)
	a = fit("timed", "--kind", "make-test-time", "--json")
	require.Zero(t, a.code, a.errors)
	assert.Regexp(t, `^\{"changed":true,"steps":\[\{"action":"create","name":"[^"]+/timed\.md","why":"[^"]+"\}\]\}\n$`,
		a.out)
	assert.FileExists(t, filepath.Join(s.root, ".autoloop/programs/timed.md"))

	s.file("lib/a.sh", "exit 1\n")
	s.commit()
	a = fit("other")
	assert.Equal(t, 2, a.code)
	assert.Contains(t, a.errors, "make-test-time: not taken: ")
	assert.NoFileExists(t, filepath.Join(s.root, ".autoloop/programs/other.md"))
}

// TestDoctorSaysThatTheTargetIsMet before anything was tried.
func TestDoctorSaysThatTheTargetIsMet(t *testing.T) {
	t.Parallel()
	for target, met := range map[string]bool{"4": true, "5": true, "6": false} {
		s := fitShop(t)
		s.file(".autoloop/programs/p.md", "---\ntarget-metric: "+target+"\n"+changing+"---\n"+goodTarget+evaluation)
		s.file("value.txt", "5\n")
		s.commit()
		const says = "it measures 5, which meets target-metric "
		assert.Equal(t, met, strings.Contains(s.iterate("doctor").out, says), target)
		assert.Equal(t, met, strings.Contains(s.iterate("doctor", "p").out, says), target)
	}
}
