package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNewProgramRunsAsItStands(t *testing.T) {
	d := newDesk(t)
	a := d.run("new", "speed-2")
	require.Zero(t, a.code, a.errors)
	assert.Contains(t, a.out, "written: "+filepath.Join(d.root, ".autoloop/programs/speed-2.md"))
	assert.Contains(t, a.out, "git init\n")
	assert.Contains(t, a.out, "iterate --program speed-2 -n 5\n")

	a = d.run("validate")
	assert.Zero(t, a.code, a.out)
	assert.Equal(t, ".autoloop/programs/speed-2.md: ok\n  schedule    every 6h\n  metric      error, lower is better, completed at 0.01\n"+
		"  may change  autoloop-speed-2/settings.conf\n  never       autoloop-speed-2/evaluate.sh\n  evaluation  sh autoloop-speed-2/evaluate.sh > \"$AUTOLOOP_RESULT\"\n", a.out)

	a = d.run("--program", "speed-2")
	assert.Zero(t, a.code, a.errors)
	assert.Equal(t, "speed-2", d.plan()["selected"])

	evaluation := exec.CommandContext(t.Context(), "sh", "autoloop-speed-2/evaluate.sh")
	evaluation.Dir = d.root
	evaluation.Env = append(os.Environ(), "LC_ALL=de_DE.UTF-8")
	out, err := evaluation.Output()
	require.NoError(t, err)
	assert.Equal(t, "{\"error\": 43.000000}\n", string(out))
}

func TestNewProgramOverwritesNothing(t *testing.T) {
	for _, there := range []string{".autoloop/programs/speed.md", ".autoloop/programs/speed/program.md", "autoloop-speed/settings.conf", "autoloop-speed/evaluate.sh"} {
		d := newDesk(t)
		file := filepath.Join(d.root, there)
		d.write(file, "mine\n")
		a := d.run("new", "speed")
		assert.Equal(t, 2, a.code, there)
		assert.Contains(t, a.errors, "exists already; choose another name")
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.Equal(t, "mine\n", string(text))
		found, err := filepath.Glob(filepath.Join(d.root, "*", "*"))
		require.NoError(t, err)
		assert.Len(t, found, 1, "nothing else was written")
	}
}

func TestNewProgramElsewhere(t *testing.T) {
	d := newDesk(t)
	a := d.run("new", "speed", "--programs", "progs")
	require.Zero(t, a.code, a.errors)
	assert.FileExists(t, filepath.Join(d.root, "progs/speed.md"))
	assert.Contains(t, a.out, "iterate --program speed -n 5 --programs progs\n")
	assert.Zero(t, d.run("validate", "--programs", "progs").code)
}

func TestNewProgramMisuse(t *testing.T) {
	d := newDesk(t)
	for _, args := range [][]string{{"new"}, {"new", "a", "b"}, {"new", "My Program"}, {"new", ""}, {"new", "../x"}, {"new", "a.lock"}} {
		a := d.run(args...)
		assert.Equal(t, 2, a.code, args)
		assert.NotEmpty(t, a.errors)
	}
	assert.Contains(t, d.run("new", "My Program").errors, `rename it to "my-program"`)
	entries, err := os.ReadDir(d.root)
	require.NoError(t, err)
	assert.Empty(t, entries)
}
