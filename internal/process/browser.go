package process

import (
	"errors"
	"os/exec"
	"runtime"
)

// OpenInBrowser shows a file in the browser of the person at this machine, which
// is not supervised: it stays when the caller ends. dir and env are the caller's.
func OpenInBrowser(file, dir string, env []string) error {
	command := []string{"xdg-open"}
	switch runtime.GOOS {
	case "darwin":
		command = []string{"open"}
	case "windows":
		command = []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	tool, err := LookPath(command[0], dir, env)
	if err != nil {
		return errors.New("no browser can be opened from here (" + command[0] + " was not found): open " + file +
			" yourself")
	}
	//nolint:gosec,noctx // the system's own way; the browser outlives us
	cmd := exec.Command(tool, append(command[1:], file)...)
	cmd.Env = env
	return cmd.Run()
}
