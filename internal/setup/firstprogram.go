package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/program/checkout"
	"github.com/org/autoloop/internal/render"
)

// Fitter writes a program that fits a repository and that was seen to work: its
// evaluation is run before anything is written.
type Fitter struct {
	Root string
	// Here is the directory that the program is for; those above it are tried too.
	Here string
	// Tracked are the files of the commit that is checked out.
	Tracked []string
	// Installed reports whether a command can be run.
	Installed func(command string) bool
	// Measure runs a program's evaluation twice on the unchanged files, and once on a
	// target file that is broken in each of these ways.
	Measure func(ctx context.Context, p *program.Program, ways ...string) (loop.Inspection, error)
	// Tell is told what is tried, and why it is not taken.
	Tell func(string)
}

// Fitted is a program that was measured.
type Fitted struct {
	Name, Text string
	Why        string
	Measured   loop.Inspection
}

// Kinds are the kinds of programs that can be asked for, in the order in which
// they are tried.
func Kinds() []string {
	var kinds []string
	for _, r := range recipes(place{installed: func(string) bool { return false }}) {
		kinds = append(kinds, r.kind)
	}
	return slices.Compact(kinds) // one kind can be measured in several ways
}

// Fit finds the first kind of program that works here, leaves something to gain and
// notices an emptied target file, else the first that does not notice; or the one that
// is asked for. It writes it for the directory of programs as name; "" names it after
// its kind.
func (f Fitter) Fit(ctx context.Context, dir, name, kind string) (*Fitted, error) {
	if kind != "" && !slices.Contains(Kinds(), kind) {
		return nil, misuse.Errorf("no kind of program is called %q: give one of %s", kind, strings.Join(Kinds(), ", "))
	}
	found, blind := false, (*Fitted)(nil)
	for at := within(f.Root, f.Here); ; at = path.Dir(at) {
		here := place{dir: filepath.Join(f.Root, at), installed: f.Installed}
		for _, file := range f.Tracked {
			if file, below := strings.CutPrefix(file, strings.TrimPrefix(at+"/", "./")); below {
				here.tracked = append(here.tracked, file)
			}
		}
		for _, recipe := range recipes(here) {
			if kind != "" && recipe.kind != kind || !recipe.fits {
				continue
			}
			found = true
			fitted, err := f.try(ctx, recipe, at, dir, name)
			if err != nil {
				return nil, err
			}
			if fitted != nil && fitted.blind() == "" {
				return fitted, nil
			}
			if blind == nil {
				blind = fitted
			}
		}
		if at == "." {
			break
		}
	}
	if blind == nil {
		why := "nothing here tells what could be measured"
		if found {
			why = "no kind of program works here as it stands (see above)"
		}
		return nil, misuse.Errorf("%s: write a program with `iterate init NAME` and change its target and evaluation", why)
	}
	return blind, nil
}

// within is the path from the root, which has no links in it, to a directory, with slashes;
// "." when it is not below it.
func within(root, here string) string {
	if resolved, err := filepath.EvalSymlinks(here); err == nil {
		here = resolved
	}
	relative, is := files.Below(root, here)
	if !is {
		return "."
	}
	return relative
}

// try measures one kind of program; nil when it cannot be used here.
func (f Fitter) try(ctx context.Context, r recipe, at, dir, name string) (*Fitted, error) {
	name = cmp.Or(name, r.kind)
	file := filepath.Join(dir, name+".md")
	if exists(dir, name+".md") {
		return nil, misuse.Errorf("%s exists already: remove or rename it", file)
	}
	tell := func(words ...any) { f.Tell(r.kind + ": " + fmt.Sprint(words...)) }
	text := r.text(name, at)
	p := program.Parse(name+".md", []byte(text))
	if err := p.Runnable(p.Refusals(f.Tracked, true)); err != nil {
		tell("not taken: ", err)
		return nil, nil
	}
	if !r.creates && !slices.ContainsFunc(f.Tracked, p.Allows) {
		tell("not taken: no file of the repository may change")
		return nil, nil
	}
	doing := "measuring"
	if p.Setup != "" {
		doing = "installing and measuring"
	}
	tell(doing, " (", r.why, ")")
	measured, err := f.Measure(ctx, p, loop.Emptied)
	switch {
	case err != nil:
		return nil, err
	case measured.Problem != "":
		tell("not taken: ", measured.Problem)
		return nil, nil
	case r.best != "" && !p.Direction.Better(metric.MustValue(r.best), measured.Median):
		tell("not taken: it is ", measured.Median, " already")
		return nil, nil
	}
	fitted := &Fitted{Name: name, Text: text, Why: r.why, Measured: measured}
	if text := fitted.blind(); text != "" {
		tell(text)
	}
	return fitted, nil
}

// blind says that the evaluation gives an emptied target file a number like that of the
// whole one, or a better one; "" when it notices, or nothing is there to be emptied.
// Where numbers scatter only a refusal is a sign.
func (f Fitted) blind() string {
	for _, broken := range f.Measured.Broken {
		if broken.Problem == "" && (f.Measured.Noisy || broken.Gain || broken.Unnoticed) {
			return "this evaluation does not notice an emptied file (" + broken.File +
				"): look at each change that is kept"
		}
	}
	return ""
}

// String says what was measured.
func (f Fitted) String() string {
	noise := "twice the same"
	if f.Measured.Noisy {
		noise = "noisy, as times are"
	}
	text := fmt.Sprintf("%s, %s, in %.2g s", render.Figure(&f.Measured.Median), noise, f.Measured.Seconds)
	if blind := f.blind(); blind != "" {
		text += "; " + blind
	}
	return text
}

// FirstProgram are the steps that write a program which was measured, nil for the
// example of a name that runs as it stands.
func FirstProgram(root, dir, name string, fitted *Fitted) ([]Step, error) {
	at, is := files.Below(root, dir)
	if !is {
		return nil, misuse.Errorf("--programs %s is not in the repository", dir)
	}
	if fitted != nil {
		name = fitted.Name
	}
	file := path.Join(at, name) + ".md"
	var steps []Step
	if fitted != nil {
		steps = []Step{{Name: file, Text: fitted.Text, Why: "(" + fitted.Why + ": " + fitted.String() + ")"}}
	} else {
		work, why := "autoloop-"+name, "(an example that runs as it stands)"
		steps = []Step{
			{Name: file, Text: strings.NewReplacer("NAME", name, "DIR", work).Replace(newTemplate), Why: why},
			{Name: work + "/settings.conf", Text: newTarget, Why: why},
			{Name: work + "/evaluate.sh", Text: newEvaluation, Why: why},
		}
	}
	for i, s := range steps {
		for _, taken := range []string{s.Name, strings.TrimSuffix(s.Name, ".md")} {
			if exists(root, taken) {
				return nil, misuse.Errorf("%s exists already; choose another name, or remove it",
					filepath.Join(root, taken))
			}
		}
		if err := insideOnly(root, s.Name); err != nil {
			return nil, err
		}
		steps[i].Action = Create
	}
	return steps, nil
}

const newTemplate = `---
schedule: every 6h
metric: error
metric_direction: lower
target-metric: 0.01
---

# NAME

## Goal

Bring the error of the settings as near to zero as can be. Lower is better.

## Target

- ` + "`DIR/settings.conf`" + `

Do NOT modify:

- ` + "`DIR/evaluate.sh`" + `

## Evaluation

Gives one JSON object.

` + "```bash" + `
sh DIR/evaluate.sh > "$AUTOLOOP_RESULT"
` + "```" + `
`

const newTarget = `# Numbers with a tune mark are changed by the built-in tuner.
width = 8.0 # tune: 0..10
depth = 1.0 # tune: 0..10
`

const newEvaluation = `#!/bin/sh
# Prints how far the settings are from where they do best, as JSON. Settings that it
# cannot read are no settings: then it fails.
cd "$(dirname "$0")" || exit 1
LC_ALL=C awk '
  /^#/ { next }
  $2 != "=" || $3 + 0 != $3 { bad = 1 }
  { is[$1] = $3 }
  END {
    if (bad || !("width" in is) || !("depth" in is)) exit 1
    printf "{\"error\": %.6f}\n", (is["width"] - 3)^2 + (is["depth"] - 7)^2 / 2
  }
' settings.conf
`

// OriginalTemplate writes the template that the original scheduler left where there
// was no directory of programs.
func OriginalTemplate(root string) (written bool, err error) {
	dir := filepath.Join(root, checkout.DefaultPrograms)
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return false, err
	}
	return true, os.WriteFile(filepath.Join(dir, "example.md"), []byte(originalTemplate), 0o644)
}

const originalTemplate = program.Sentinel + `
---
schedule: every 6h
# metric_direction: lower
# target-metric: 0.95
---

# Example program

## Goal

REPLACE THIS with what is to be improved, and how one would know.

## Target

- ` + "`REPLACE_WITH_FILE`" + `

## Evaluation

` + "```bash" + `
REPLACE_WITH_COMMAND
` + "```" + `

The metric is ` + "`REPLACE_WITH_METRIC_NAME`" + `.
`
