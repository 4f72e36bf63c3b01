package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/schedule"
)

// annotation is a remark that GitHub Actions shows with a run and, when it has
// a file, at its line.
type annotation struct {
	level annotationLevel
	// file is as the program has it, "" for none; line is 0 for the file as a whole.
	file    string
	line    int
	title   string
	message string
}

type annotationLevel string

// The levels that GitHub has; a run shows ten of each of a step.
const (
	errorLevel   annotationLevel = "error"
	warningLevel annotationLevel = "warning"
)

const (
	maxAnnotations = 10
	maxAnnotation  = 1000
)

// annotate writes annotations, in Actions only: to the file that
// AUTOLOOP_ANNOTATIONS names, else to standard error. Of more than are shown,
// the last counts the rest.
func annotate(env Env, root string, list ...annotation) error {
	if !env.InActions() || len(list) == 0 {
		return nil
	}
	masker := process.NewMasker(env.Environ)
	counts := map[annotationLevel]int{}
	var text strings.Builder
	for _, a := range list {
		if counts[a.level]++; counts[a.level] < maxAnnotations {
			a.message = masker.String(a.message)
			text.WriteString(a.command(env, root))
		}
	}
	for _, level := range []annotationLevel{errorLevel, warningLevel} {
		if more := counts[level] - maxAnnotations + 1; more > 0 {
			text.WriteString(annotation{level: level, title: "Autoloop", message: fmt.Sprintf("%d more are in the job's summary", more)}.command(env, root))
		}
	}
	if file := env.Getenv("AUTOLOOP_ANNOTATIONS"); file != "" {
		return appendTo(file, text.String())
	}
	_, err := io.WriteString(undefused(env.Stderr), text.String())
	return err
}

// command is the annotation as a workflow command, on one line. A place that
// GitHub does not have is said in words.
func (a annotation) command(env Env, root string) string {
	properties, message := "title="+property(render.Plain(a.title, 200)), a.message
	if file := inWorkspace(env, root, a.file); file != "" {
		place := "file=" + property(file)
		if a.line > 0 {
			place += fmt.Sprintf(",line=%d", a.line)
		}
		properties = place + "," + properties
	} else if a.file != "" {
		message = program.Problem{File: a.file, Line: a.line, Message: a.message}.String()
	}
	return fmt.Sprintf("::%s %s::%s\n", a.level, properties, data(render.Plain(message, maxAnnotation)))
}

// data escapes the message of a workflow command, property one of its values,
// as GitHub's runner reads them.
func data(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(text)
}

func property(text string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(data(text))
}

// inWorkspace is the file as GitHub finds it, from the workspace; "" for what is
// no file there, such as an issue.
func inWorkspace(env Env, root, file string) string {
	if file == "" {
		return ""
	}
	full := file
	if !filepath.IsAbs(full) {
		full = filepath.Join(root, file)
	}
	if info, err := os.Stat(full); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	if workspace := env.Getenv("GITHUB_WORKSPACE"); workspace != "" {
		if rel, err := filepath.Rel(workspace, full); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel)
		}
	}
	return filepath.ToSlash(file)
}

// planAnnotations are the programs in error, and the warnings.
func planAnnotations(plan *schedule.Plan) []annotation {
	var list []annotation
	for _, f := range plan.Errors {
		list = append(list, annotation{level: errorLevel, file: f.File, line: f.Line, title: "Autoloop: " + f.Name, message: f.Message})
	}
	for _, text := range plan.Warnings {
		list = append(list, warning("Autoloop", text))
	}
	return list
}

// placed matches a warning that begins with its place in a file.
var placed = regexp.MustCompile(`^([^:]+\.md):(\d{1,9}): (.+)$`)

// warning is an annotation at the place that the text begins with, if any.
func warning(title, text string) annotation {
	a := annotation{level: warningLevel, title: title, message: text}
	if m := placed.FindStringSubmatch(text); m != nil {
		a.file, a.message = m[1], m[3]
		a.line, _ = strconv.Atoi(m[2])
	}
	return a
}

// resultAnnotations are the iterations that ended in an error, and the warnings.
func resultAnnotations(p *program.Program, results []loop.Result) []annotation {
	var list []annotation
	said := map[string]bool{}
	for _, r := range results {
		title := fmt.Sprintf("Autoloop: %s, iteration %d", r.Program, r.Iteration)
		if r.Outcome == history.Error {
			a := annotation{level: errorLevel, title: title, message: strings.Join(r.Reasons, "; ")}
			if p != nil {
				a.file = p.File
			}
			list = append(list, a)
		}
		for _, text := range r.Warnings {
			if !said[text] {
				list = append(list, warning(title, text))
			}
			said[text] = true
		}
	}
	return list
}

// annotateFailure says why a command failed, at the place where that is known.
func annotateFailure(env Env, name string, err error) {
	list := []annotation{{level: errorLevel, title: name, message: err.Error()}}
	var located *program.NotRunnableError
	if errors.As(err, &located) {
		list = nil
		for _, p := range located.Problems {
			list = append(list, annotation{level: errorLevel, file: p.File, line: p.Line, title: name, message: p.Message})
		}
	}
	_ = annotate(env, env.Dir, list...)
}
