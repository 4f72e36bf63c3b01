package app

import (
	"errors"
	"os/exec"
	"runtime"

	"github.com/org/autoloop/internal/process"
)

// OpenInBrowser shows a file in the browser of the person at this machine.
func OpenInBrowser(env Env, file string) error {
	command := []string{"xdg-open"}
	switch runtime.GOOS {
	case "darwin":
		command = []string{"open"}
	case "windows":
		command = []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	tool, err := process.LookPath(command[0], env.Dir, env.Environ)
	if err != nil {
		return errors.New("no browser can be opened from here (" + command[0] + " was not found): open " + file + " yourself")
	}
	cmd := exec.Command(tool, append(command[1:], file)...) //nolint:gosec,noctx // the system's own way; the browser outlives us
	cmd.Env = env.Environ
	return cmd.Run()
}
