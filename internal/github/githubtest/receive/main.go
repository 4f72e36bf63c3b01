// Command receive is the proc-receive hook of a repository that takes pushes as GitHub
// does. It is a program of its own because it starts with each push of a test.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: receive WORKFLOWS-FILE PROTECTED-FILE")
		os.Exit(2)
	}
	rules := rules{workflows: os.Args[1], protected: os.Args[2]}
	if err := rules.receive(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// rules names the files that say what a repository allows and forbids.
type rules struct{ workflows, protected string }

// receive moves the refs of a push, or says why not.
func (r rules) receive(in io.Reader, out io.Writer) error {
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
	for _, ref := range r.decide(commands) {
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
func (r rules) decide(commands []string) []string {
	refused, moves := map[string]string{}, &bytes.Buffer{}
	for _, command := range commands {
		fields := strings.Fields(command)
		if r.isProtected(fields[2], strings.Trim(fields[0], "0") != "") {
			refused[fields[2]] = "protected branch hook declined"
		}
		if file := changedWorkflow(fields[0], fields[1], r.areStrict()); file != "" && !r.mayChangeWorkflows() {
			refused[fields[2]] = "refusing to allow a GitHub App to create or update workflow `" + file +
				"` without `workflows` permission"
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
// does not have yet, on the way to this one, or "". The strict rule looks at what
// the branch lacked before, also when another branch has it.
func changedWorkflow(old, commit string, strict bool) string {
	if strings.Trim(commit, "0") == "" {
		return ""
	}
	// A merge is held against its first parent: it brings what that one lacked.
	command := []string{
		"log", "-z", "--format=", "--name-only", "--no-renames", "--diff-merges=first-parent", commit,
		"--not", "--all",
	}
	if strict && strings.Trim(old, "0") != "" {
		command = []string{"diff", "-z", "--name-only", "--no-renames", old, commit}
	}
	changed, err := exec.Command("git", command...).Output() //nolint:noctx // it ends at once
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
func (r rules) isProtected(ref string, exists bool) bool {
	out, err := os.ReadFile(r.protected) // without it, nothing is
	if err != nil {
		return false
	}
	rule := string(out)
	if all, found := strings.CutSuffix(rule, "*"); found {
		return strings.HasPrefix(ref, all)
	}
	return exists && ref == rule
}

func (r rules) areStrict() bool {
	rule, err := os.ReadFile(r.workflows)
	return err == nil && string(rule) == "strict"
}

func (r rules) mayChangeWorkflows() bool {
	if os.Getenv("GIT_COMMITTER_NAME") == "User" {
		return true
	}
	allowed, err := os.ReadFile(r.workflows) // without it, no
	return err == nil && string(allowed) == "true"
}
