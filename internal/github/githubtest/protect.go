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
	hook := fmt.Sprintf("#!/bin/sh\nexec '%s' %s %s\n", program, workflowsFile, protectedFile)
	return os.WriteFile(filepath.Join(bare, "hooks", "proc-receive"), []byte(hook), 0o755) //nolint:gosec // it is run
}

// Files of a protected repository, which the hook reads: what it allows and forbids.
const (
	workflowsFile = "autoloop-workflows"
	protectedFile = "autoloop-protected"
)

// RefuseWorkflows refuses a branch also those workflow files that another branch has.
func RefuseWorkflows(bare string) error {
	return os.WriteFile(filepath.Join(bare, workflowsFile), []byte("strict"), 0o600)
}

// AllowWorkflows gives the token of a repository the right to change workflows, or
// takes it away.
func AllowWorkflows(bare string, allowed bool) error {
	return os.WriteFile(filepath.Join(bare, workflowsFile), []byte(strconv.FormatBool(allowed)), 0o600)
}

// ProtectBranch lets nobody move a branch that a repository has by now, as a rule of it
// does. With a name that ends in /* nobody makes such branches either; "" ends that.
func ProtectBranch(bare, branch string) error {
	return os.WriteFile(filepath.Join(bare, protectedFile), []byte("refs/heads/"+branch), 0o600)
}
