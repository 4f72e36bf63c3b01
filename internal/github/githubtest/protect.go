package githubtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// Protect lets a bare repository take pushes as GitHub does: a token of workflows
// does not change workflow files. program is the command receive, built. A
// push of a person, whose git is configured as User, may; so may every token once
// AllowWorkflows was called.
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
	hook := fmt.Sprintf("#!/bin/sh\nexec '%s' %s\n", program, workflowsFile)
	return os.WriteFile(filepath.Join(bare, "hooks", "proc-receive"), []byte(hook), 0o755) //nolint:gosec // it is run
}

// workflowsFile is a file of a protected repository, which the hook reads: what it allows.
const workflowsFile = "autoloop-workflows"

// AllowWorkflows gives the token of a repository the right to change workflows, or
// takes it away.
func AllowWorkflows(bare string, allowed bool) error {
	return os.WriteFile(filepath.Join(bare, workflowsFile), []byte(strconv.FormatBool(allowed)), 0o600)
}
