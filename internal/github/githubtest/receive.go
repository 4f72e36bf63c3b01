package githubtest

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// receiveVariable names the repository in the environment of a hook.
const receiveVariable = "AUTOLOOP_TEST_RECEIVE"

// Protect lets a bare repository take pushes as GitHub does: a token of workflows
// does not change workflow files. program runs Receive when Receives says so. A
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
	hook := fmt.Sprintf("#!/bin/sh\n%s=. exec '%s'\n", receiveVariable, program)
	return os.WriteFile(filepath.Join(bare, "hooks", "proc-receive"), []byte(hook), 0o755) //nolint:gosec // it is run
}

// Files of a protected repository, which the hook reads: what it allows and forbids.
const (
	workflowsFile = "autoloop-workflows"
	protectedFile = "autoloop-protected"
)

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

// Receives reports whether this process is the hook of a protected repository.
func Receives() bool { return os.Getenv(receiveVariable) != "" }

// Receive is the hook: it moves the refs of a push, or says why not.
func Receive(in io.Reader, out io.Writer) error {
	h := hook{bufio.NewReader(in), out}
	if _, err := h.lines(); err != nil {
		return err
	}
	h.write("version=1\x00atomic")
	h.flush()
	commands, err := h.lines()
	if err != nil {
		return err
	}
	for _, ref := range h.decide(commands) {
		h.write(ref)
	}
	h.flush()
	return nil
}

type hook struct {
	in  *bufio.Reader
	out io.Writer
}

// lines reads packets up to a flush.
func (h hook) lines() ([]string, error) {
	var list []string
	for {
		var size [4]byte
		if _, err := io.ReadFull(h.in, size[:]); err != nil {
			return nil, err
		}
		length, err := strconv.ParseUint(string(size[:]), 16, 16)
		if err != nil || length == 0 {
			return list, err
		}
		text := make([]byte, length-4)
		if _, err := io.ReadFull(h.in, text); err != nil {
			return nil, err
		}
		list = append(list, strings.TrimSuffix(string(text), "\n"))
	}
}

func (h hook) write(text string) { _, _ = fmt.Fprintf(h.out, "%04x%s", len(text)+4, text) }

func (h hook) flush() { _, _ = io.WriteString(h.out, "0000") }

// decide moves all refs or none, and answers each command.
func (h hook) decide(commands []string) []string {
	refused, moves := map[string]string{}, &bytes.Buffer{}
	for _, command := range commands {
		fields := strings.Fields(command)
		if isProtected(fields[2], strings.Trim(fields[0], "0") != "") {
			refused[fields[2]] = "protected branch hook declined"
		}
		if file := changedWorkflow(fields[1]); file != "" && !mayChangeWorkflows() {
			refused[fields[2]] = "refusing to allow a GitHub App to create or update workflow `" + file + "` without `workflows` permission"
		}
		fmt.Fprintf(moves, "update %s %s %s\n", fields[2], fields[1], fields[0])
	}
	problem := "atomic push failure"
	if len(refused) == 0 {
		update := exec.Command("git", "update-ref", "--stdin") //nolint:noctx // it ends at once
		update.Stdin = moves
		if update.Run() == nil {
			problem = ""
		} else {
			problem = "failed to update ref"
		}
	}
	var answers []string
	for _, command := range commands {
		ref := strings.Fields(command)[2]
		switch {
		case problem == "":
			answers = append(answers, "ok "+ref)
		case refused[ref] != "":
			answers = append(answers, "ng "+ref+" "+refused[ref])
		default:
			answers = append(answers, "ng "+ref+" "+problem)
		}
	}
	return answers
}

// changedWorkflow is a workflow file that a commit changes which the repository
// does not have yet, on the way to this one, or "".
func changedWorkflow(commit string) string {
	if strings.Trim(commit, "0") == "" {
		return ""
	}
	// A merge is held against its first parent: it brings what that one lacked.
	changed, err := exec.Command("git", "log", "-z", "--format=", "--name-only", "--no-renames", "--diff-merges=first-parent", commit, "--not", "--all").Output() //nolint:noctx // it ends at once
	if err != nil {
		return ".github/workflows/unreadable"
	}
	for name := range strings.SplitSeq(string(changed), "\x00") {
		if name = strings.TrimSpace(name); strings.HasPrefix(name, ".github/workflows/") {
			return name
		}
	}
	return ""
}

// isProtected reports whether no push moves a ref, or makes it where there is no such
// ref yet.
func isProtected(ref string, exists bool) bool {
	out, err := os.ReadFile(protectedFile) // without it, nothing is
	if err != nil {
		return false
	}
	rule := string(out)
	if all, found := strings.CutSuffix(rule, "*"); found {
		return strings.HasPrefix(ref, all)
	}
	return exists && ref == rule
}

func mayChangeWorkflows() bool {
	if os.Getenv("GIT_COMMITTER_NAME") == "User" {
		return true
	}
	allowed, err := os.ReadFile(workflowsFile) // without it, no
	return err == nil && string(allowed) == "true"
}
