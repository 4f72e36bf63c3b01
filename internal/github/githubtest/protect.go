package githubtest

import (
	"fmt"
	"os"
	"path/filepath"
)

// Protect lets a bare repository take pushes as GitHub does: a token of workflows
// does not change workflow files. program is the command receive, built. A
// push of a person, whose git is configured as User, may.
func Protect(bare, program string) error {
	const settings = "[receive]\n\tprocReceiveRefs = refs/heads\n\tautogc = false\n[http]\n\treceivepack = true\n"
	config, err := os.OpenFile(filepath.Join(bare, "config"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if _, err := config.WriteString(settings); err != nil {
		return err
	}
	if err := config.Close(); err != nil {
		return err
	}
	hook := fmt.Sprintf("#!/bin/sh\nexec '%s'\n", program)
	return os.WriteFile(filepath.Join(bare, "hooks", "proc-receive"), []byte(hook), 0o755) //nolint:gosec // it is run
}
