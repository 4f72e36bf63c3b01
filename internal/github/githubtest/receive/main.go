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
	if err := receive(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// receive moves the refs of a push, or says why not.
func receive(in io.Reader, out io.Writer) error {
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
	for _, ref := range decide(commands) {
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
func decide(commands []string) []string {
	refused, moves := map[string]string{}, &bytes.Buffer{}
	for _, command := range commands {
		fields := strings.Fields(command)
		if file := changedWorkflow(fields[1]); file != "" && os.Getenv("GIT_COMMITTER_NAME") != "User" {
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
// does not have yet, on the way to this one, or "".
func changedWorkflow(commit string) string {
	if strings.Trim(commit, "0") == "" {
		return ""
	}
	// A merge is held against its first parent: it brings what that one lacked.
	changed, err := exec.Command("git", "log", "-z", "--format=", "--name-only", //nolint:noctx // it ends at once
		"--no-renames", "--diff-merges=first-parent", commit, "--not", "--all").Output()
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
