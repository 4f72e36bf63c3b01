package evaluation

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/program"
)

// trap notes each command that ends a script, or a subshell of it: its exit code, the options of
// the shell, how deep in subshells it is, its file and line, and the command itself.
const trap = `trap 'printf "%s\t%s\t%s\t%s\t%s\t%s\0" "$?" "$-" "$BASH_SUBSHELL" "${BASH_SOURCE[0]}" "$LINENO" ` +
	`"$BASH_COMMAND" 2>/dev/null >>"${AUTOLOOP_RESULT%/*}/failed"' ERR; `

// shellFor is bash that ends at the first command that fails, also within a pipe,
// and at a variable that is not set. Where there is no bash, sh does as much of
// that as it can. The script's file comes after args, and its first line after preamble.
func shellFor(request Request) (args []string, preamble string) {
	if _, err := process.LookPath("bash", request.Dir, request.Env); err == nil {
		return []string{"bash", "-e", "-u", "-E", "-o", "pipefail"}, trap
	}
	return []string{"sh", "-e", "-u"}, "if (set -o pipefail) 2>/dev/null; then set -o pipefail; fi; "
}

// command is one that ended a script.
type command struct {
	file string
	line int
	text string
}

// maxFailed bounds what is read of the commands that failed, in bytes.
const maxFailed = 1 << 16

// failedCommand is the command that ended the script with an exit code: of the last, and those just before it that
// ended subshells of it, the innermost. What jobs failed with earlier ended nothing. It is nil when none is known.
func failedCommand(dir string, exit int) (at *command) {
	text, err := files.ReadSmall(filepath.Join(dir, "failed"), maxFailed)
	if exit == 0 || err != nil {
		return nil
	}
	deepest := -1
	for _, record := range slices.Backward(strings.Split(string(text), "\x00")) {
		fields := strings.SplitN(record, "\t", 6)
		if len(fields) < 6 || fields[0] != strconv.Itoa(exit) || !strings.Contains(fields[1], "e") {
			continue // it did not end its shell, or not with that
		}
		depth, err := strconv.Atoi(fields[2])
		line, bad := strconv.Atoi(fields[4])
		if cmp.Or(err, bad) != nil {
			continue
		}
		if depth <= deepest {
			break
		}
		at, deepest = &command{fields[3], line, fields[5]}, depth
	}
	return at
}

// resultVariable names the file in which a script may give its result, in the
// shell that runs the script and in nothing that it starts.
const resultVariable = program.ResultVariable

const maxResult = 1 << 20

// hidden keeps the variable in the shell and takes it out of the environment.
// It has no line of its own, so that the lines of the script keep their numbers.
const hidden = "_autoloop=$" + resultVariable + "; unset " + resultVariable + "; " + resultVariable +
	"=$_autoloop; unset _autoloop; "

// readResult returns what the script wrote, nil when it wrote nothing. The error is one
// line for people.
func readResult(file string) ([]byte, error) {
	text, err := files.ReadSmall(file, maxResult)
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && len(text) == 0:
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("$%s is no regular file of at most %d bytes after the evaluation", resultVariable,
			maxResult)
	}
	return text, nil
}

type failure struct {
	Request

	name, script, file string
	result             process.Result
	at                 *command // nil when it is not known
	masker             process.Masker
}

// problem says why a script failed, "" when it did not. A non-zero exit means
// failed, whatever was printed.
func (f failure) problem() string {
	r := f.result
	switch {
	case r.TimedOut:
		return fmt.Sprintf("the %s took longer than %s", f.name, f.Timeout)
	case r.Exceeded != "":
		return fmt.Sprintf("the %s was ended: %s", f.name, r.Exceeded)
	case r.NotFound:
		return fmt.Sprintf("the %s needs a shell, and neither bash nor sh was found", f.name)
	case r.Signal != "":
		return fmt.Sprintf("the %s was ended by %s%s", f.name, r.Signal, f.words())
	case r.ExitCode != 0:
		return fmt.Sprintf("the %s ended with exit code %d%s%s%s", f.name, r.ExitCode, f.place(),
			f.windowsLineEnds(), f.words())
	default:
		return ""
	}
}

// shellFault is what a shell says of a line of the script.
func (f failure) shellFault() (line int, says string) {
	form := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(f.file) + `: (?:line )?(\d+): (.+)$`)
	all := form.FindAllStringSubmatch(string(f.result.Stderr), -1)
	if len(all) == 0 {
		return 0, ""
	}
	last := all[len(all)-1]
	line, _ = strconv.Atoi(last[1])
	return line, last[2]
}

// maxCommand bounds a line of the script in a reason, in bytes.
const maxCommand = 80

// place names the line of the script that failed, with its command.
func (f failure) place() string {
	fault, _ := f.shellFault()
	at := cmp.Or(f.at, &command{file: f.file, line: fault})
	lines := strings.Split(f.script, "\n")
	switch {
	case at.file != f.file:
		return fmt.Sprintf(" at line %d of %s (`%s`)", at.line, f.masker.OneLine(filepath.Base(at.file), maxCommand),
			f.masker.OneLine(at.text, maxCommand))
	case at.line < 1:
		return ""
	case at.line > len(lines):
		return " at its end"
	}
	text := f.masker.OneLine(strings.TrimSpace(lines[at.line-1]), maxCommand)
	if text == "" {
		return fmt.Sprintf(" at line %d", at.line)
	}
	return fmt.Sprintf(" at line %d (`%s`)", at.line, text)
}

// windowsLineEnds names a file of the tree that the script runs and whose first line ends
// with CR, which shells take for a part of its last word.
func (f failure) windowsLineEnds() string {
	root, err := os.OpenRoot(f.Dir)
	if err != nil {
		return ""
	}
	defer root.Close()
	for _, word := range strings.Fields(f.script) {
		first, _ := files.ReadRegular(root, strings.TrimPrefix(word, "./"), 200)
		if line, _, _ := bytes.Cut(first, []byte("\n")); bytes.HasSuffix(line, []byte("\r")) {
			return fmt.Sprintf(": line 1 of %s ends with CR, as on Windows", f.masker.OneLine(word, maxCommand))
		}
	}
	return ""
}

// words are the lines of the output that say why.
func (f failure) words() string {
	_, says := f.shellFault()
	if says != "" && (f.at == nil || f.result.ExitCode > 125) { // It was not found, or cannot be run.
		return ": " + f.masker.OneLine(says, maxLine)
	}
	within := func(stream []byte) string { return strings.ReplaceAll(string(stream), f.Dir+"/", "") }
	text := f.masker.OneLine(strings.Join(telling(within(f.result.Stderr), within(f.result.Stdout)), "; "), maxTelling)
	if text == "" {
		return ""
	}
	return ": " + text
}
