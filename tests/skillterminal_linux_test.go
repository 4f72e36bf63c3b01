package tests

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// onTerminal runs a command on a terminal of its own, types the answer when it
// asks `[y/n]`, and returns all that was shown.
func onTerminal(t *testing.T, cmd *exec.Cmd, answer string) (shown string, code int) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("there are no terminals here:", err)
	}
	defer func() { _ = person.Close() }()
	require.NoError(t, unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0))
	number, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	terminal, err := os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = terminal, terminal, terminal
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(t, cmd.Start())
	require.NoError(t, terminal.Close())
	hangs := time.AfterFunc(5*time.Minute, func() { _ = cmd.Process.Kill() })
	defer hangs.Stop()
	var all strings.Builder
	buffer := make([]byte, 4096)
	for answered := false; ; {
		n, err := person.Read(buffer)
		all.Write(buffer[:n])
		if !answered && strings.Contains(all.String(), "[y/n] ") {
			_, err := io.WriteString(person, answer)
			require.NoError(t, err)
			answered = true
		}
		if err != nil {
			break // the last who had the terminal open is gone
		}
	}
	_ = cmd.Wait()
	return strings.ReplaceAll(all.String(), "\r\n", "\n"), cmd.ProcessState.ExitCode()
}

func TestSkillApplyAsksOnATerminal(t *testing.T) {
	t.Parallel()
	const interrupt = "\x03"
	for name, c := range map[string]struct {
		answer  string
		applied bool
		code    int
	}{
		"yes": {"y\n", true, 0}, "something else": {"yeah\n", false, 0},
		"the end of input": {"\x04", false, 0}, "an interrupt": {interrupt, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := improvedProject(t)
			before := w.state("s")
			shown, code := onTerminal(t, w.command("iterate", "apply", ws), c.answer)
			assert.Equal(t, c.code, code, shown)
			assert.Contains(t, shown, "s: plateau\n")
			assert.Contains(t, shown, "Say it | <b>again</b>", "nothing is escaped")
			report, _, _ := strings.Cut(shown, "\nDiff\n")
			assert.NotRegexp(t, "(?m)^#|\\*\\*|```|&lt;|\u200b|^[|] ", report, "there is no markup on a terminal")
			assert.Regexp(t, `(?m)^case +v0 +v1$`, shown)
			assert.Contains(t, shown, "▅█▁  the score of each iteration\n")
			assert.Contains(t, shown, "+six, better\n")
			if c.applied {
				assert.Equal(t, w.state("next"), w.state("s"))
				shown, _ = onTerminal(t, w.command("iterate", "undo", ws), "y\n")
				assert.Contains(t, shown, "put v0 back to ")
			} else {
				assert.Contains(t, shown, "nothing was changed; the workspace ")
			}
			assert.Equal(t, before, w.state("s"))
			assert.DirExists(t, filepath.Join(w.dir, ws, "v1"), "the workspace is kept whatever the answer")
		})
	}
}
