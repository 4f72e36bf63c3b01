package evaluation

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/process"
)

type failure struct {
	name, script, file string
	dir                string // of the tree: files are named within it
	timeout            time.Duration
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
		return fmt.Sprintf("the %s took longer than %s", f.name, f.timeout)
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
	line := 0
	if fault, _ := f.shellFault(); fault > 0 && f.at == nil {
		line = fault
	} else if f.at != nil && f.at.file == f.file {
		line = f.at.line
	} else if f.at != nil {
		return fmt.Sprintf(" at line %d of %s (`%s`)", f.at.line,
			f.masker.OneLine(filepath.Base(f.at.file), maxCommand), f.masker.OneLine(f.at.text, maxCommand))
	}
	lines := strings.Split(f.script, "\n")
	switch {
	case line < 1:
		return ""
	case line > len(lines):
		return " at its end"
	}
	command := f.masker.OneLine(strings.TrimSpace(lines[line-1]), maxCommand)
	if command == "" {
		return fmt.Sprintf(" at line %d", line)
	}
	return fmt.Sprintf(" at line %d (`%s`)", line, command)
}

// windowsLineEnds names a file of the tree that the script runs and whose first line ends
// with CR, which shells take for a part of its last word.
func (f failure) windowsLineEnds() string {
	root, err := os.OpenRoot(f.dir)
	if err != nil {
		return ""
	}
	defer func() { _ = root.Close() }()
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
	within := func(stream []byte) string { return strings.ReplaceAll(string(stream), f.dir+"/", "") }
	text := f.masker.OneLine(strings.Join(telling(within(f.result.Stderr), within(f.result.Stdout)), "; "), maxTelling)
	if text == "" {
		return ""
	}
	return ": " + text
}
