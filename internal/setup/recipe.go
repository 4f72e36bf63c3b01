package setup

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/lazyregexp"
)

// place is a directory of the repository that a program may be for.
type place struct {
	dir       string
	tracked   []string // below it
	installed func(command string) bool
}

// has reports whether something in the directory matches a glob.
func (p place) has(glob string) bool {
	found, err := fs.Glob(os.DirFS(p.dir), glob)
	return err == nil && len(found) > 0
}

// read is what a file says, "" for none.
func (p place) read(name string) string {
	data, _ := os.ReadFile(filepath.Join(p.dir, filepath.FromSlash(name)))
	return string(data)
}

func (p place) says(file, words string) bool { return strings.Contains(p.read(file), words) }

// uses reports whether there are a file and the command for what it tells of.
func (p place) uses(file, command string) bool { return p.has(file) && p.installed(command) }

// tracks reports whether a file has one of the endings.
func (p place) tracks(endings ...string) bool {
	return slices.ContainsFunc(p.tracked, func(file string) bool { return slices.Contains(endings, path.Ext(file)) })
}

// anyFile reports whether one of the first files that match has words in it.
func (p place) anyFile(suffix string, words lazyregexp.Regexp) bool {
	const most = 2000
	looked := 0
	for _, file := range p.tracked {
		if !strings.HasSuffix(file, suffix) {
			continue
		}
		if looked++; looked > most {
			return false
		}
		if words().MatchString(p.read(file)) {
			return true
		}
	}
	return false
}

// sources are globs for where the directory has its code: in the usual directories, else in
// files of its own that one of the patterns matches.
func (p place) sources(patterns ...string) []string {
	var globs []string
	for _, glob := range []string{"src", "lib", "app", "packages/*/src", "packages/*/lib"} {
		if p.has(glob) {
			globs = append(globs, glob+"/**")
		}
	}
	if len(globs) > 0 {
		return globs
	}
	for _, pattern := range patterns {
		if p.has(pattern) {
			globs = append(globs, pattern)
		}
	}
	if len(globs) > 0 {
		return globs
	}
	for _, pattern := range patterns {
		globs = append(globs, "**/"+pattern)
	}
	return globs
}

var makefiles = []string{"GNUmakefile", "makefile", "Makefile"}

// A rule for `test` or `check`, and no variable of that name.
var makeTest = lazyregexp.New(`(?m)^(test|check)\s*::?(?:[^:=]|$)`)

// makeTests is the name of the rule that tests, "" for none. Make reads the first file.
func (p place) makeTests() (rule string) {
	if at := slices.IndexFunc(makefiles, p.has); at >= 0 {
		for _, found := range makeTest().FindAllStringSubmatch(p.read(makefiles[at]), -1) {
			if rule != "test" {
				rule = found[1]
			}
		}
	}
	return rule
}

// recipe is a kind of program, as it would be for a place.
type recipe struct {
	kind, why string
	fits      bool
	purpose
	project
	goal string
	// script sets $value, and $tests where it knows how many tests passed, else $ended
	// where it knows how many processes of them came to their end.
	script string
}

// purpose is what a recipe measures, in whatever language.
type purpose struct {
	// metric is its name, better is `lower` or `higher`, and best the value that
	// leaves nothing to gain; "" for none.
	metric, better, best string
	// works says that what tests check has to stay beside what is measured, and
	// creates that the targets need not exist yet.
	works, creates bool
}

var (
	size     = purpose{metric: "bytes", better: "lower", works: true}
	lint     = purpose{metric: "findings", better: "lower", best: "0", works: true}
	coverage = purpose{metric: "coverage", better: "higher", best: "100", creates: true}
	testTime = purpose{metric: "seconds", better: "lower"}
)

const (
	coverLines  = "Raise the share of lines that the tests cover, in percent, with tests that check behaviour."
	fasterTests = "Make the code under test faster, so that the tests take fewer seconds; what they check stays."
)

// project is what a recipe changes and what it needs.
type project struct {
	targets, protect []string
	setup            string
	// grows says that a candidate may add tests, or that what is counted are lines.
	grows bool
}

// refuse ends the script with the reason of a refusal; failed quotes what the tests say.
const refuse = `refuse() {
  printf '{"METRIC": null, "rejected_reason": "%s"}\n' "$(printf %s "$1" | tr -d '"\\' | tr -c '[:print:]' ' ' | cut -c 1-300)" > "$AUTOLOOP_RESULT"
  exit 0
}
failed() {
  cat "$TMPDIR/said.txt" >&2
  refuse "the tests fail: $(grep -m 1 -iE '^ *not ok|fail|error|assert' "$TMPDIR/said.txt" || tail -n 1 "$TMPDIR/said.txt")"
}
`

// notPlain is a character that a glob, or a list of targets, would read as
// something else; `?` stands for it.
var notPlain = lazyregexp.New(`[^\w./+@-]`)

// text is the program file for a directory below the root, "." for the root.
func (r recipe) text(name, at string) string {
	script := "\n" + strings.TrimSpace(r.script) + "\n"
	result, values, rails := `{"`+r.metric+`": %s`, ` "$value"`, []string(nil)
	for _, count := range []string{"tests", "benchmarks", "ended", "scripts"} {
		if !strings.Contains(script, "\n"+count+"=") {
			continue
		}
		result, values = result+`, "`+count+`": %d`, values+` "$`+count+`"`
		rails = append(rails, "{metric: "+count+", direction: higher}")
		if count == "benchmarks" || count == "tests" && !r.creates && !r.grows {
			// Those of protected files: more are made up.
			rails = append(rails, "{metric: "+count+", direction: lower}")
		}
	}
	head := "---\nschedule: every 6h\nmetric: " + r.metric + "\nmetric_direction: " + r.better + "\n"
	if rails != nil {
		head += "guardrails: [" + strings.Join(rails, ", ") + "]\n"
	}
	begin, setup, goal := "", r.setup, r.goal
	if at != "." {
		begin = "cd '" + strings.ReplaceAll(at, "'", `'\''`) + "'\n"
	}
	if setup != "" && begin != "" {
		setup = strings.TrimSpace(begin) + " && { " + setup + "; }"
	}
	if setup != "" {
		head += "setup: " + strconv.Quote(setup) + "\n"
	}
	runs := strings.Contains(script, "|| failed\n")
	switch {
	case runs && r.works:
		goal += " What the tests check stays."
	case r.works:
		goal += " No test checks that it still works: a person does."
	}
	if runs {
		begin += strings.ReplaceAll(refuse, "METRIC", r.metric)
	}
	list := func(globs []string) (lines string) {
		for _, glob := range globs {
			lines += "- `" + path.Join(notPlain().ReplaceAllString(at, "?"), glob) + "`\n"
		}
		return lines
	}
	better := strings.ToUpper(r.better[:1]) + r.better[1:]
	return head + "---\n\n# " + name + "\n\n## Goal\n\n" + goal + " " + better + " is better.\n\n## Target\n\n" +
		list(r.targets) + "\nDo NOT modify:\n\n" + list(r.protect) + "\n## Evaluation\n\n```bash\nset -e\n" + begin +
		strings.TrimSpace(script) + "\nprintf '" + result + "}\\n'" + values + " > \"$AUTOLOOP_RESULT\"\n```\n"
}

// runner is how the tests of a place are run.
type runner struct {
	// before is a script that is not timed, command what runs the tests, without a
	// single quote, and count one that sets $tests from $TMPDIR/said.txt, which has
	// what the tests print, or from $TMPDIR/report, which they write at their end.
	before, command, count string
}

// run is a script that runs the tests and refuses where they fail.
func (r runner) run() string {
	return r.script(r.command + ` > "$TMPDIR/said.txt" 2>&1`)
}

// when is run where there are tests, else nothing.
func (r runner) when(there bool) string {
	if !there {
		return ""
	}
	return r.run()
}

// timed also sets $value to the seconds that they take.
func (r runner) timed() string {
	return r.script(`value=$(bash -c 'export LC_ALL=C TIMEFORMAT=%R; { time ` + r.command +
		` > "$TMPDIR/said.txt" 2>&1; } 2>&1')`)
}

func (r runner) script(command string) string {
	return r.before + "rm -f \"$TMPDIR/report\"\n" + command + " || failed\n" + r.count
}

// someTests refuses where no test passed.
const someTests = `[ "$tests" -gt 0 ] || refuse "no test ran"
`
