package setup

import (
	"path"
	"strings"
)

// place is a directory of the repository that a program may be for.
type place struct {
	dir       string
	tracked   []string // below it
	installed func(command string) bool
}

// recipe is a kind of program that fits repositories of some shape.
type recipe struct {
	kind, why string
	fits      func(place) bool
	// metric is its name, better is `lower` or `higher`, and best the value that
	// leaves nothing to gain; "" for none.
	metric, better, best string
	goal                 string
	targets              func(place) []string
	protect              []string
	// creates says that the targets need not exist yet.
	creates bool
	setup   func(place) string
	// script sets $value, and $tests where it knows how many tests passed, else $ended
	// where it knows how many processes of them came to their end.
	script func(place) string
	// works says that what tests check has to stay beside what is measured, and grows
	// that a candidate may add tests, or that what is counted are lines.
	works, grows bool
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

// text is the program file for a directory below the root, "." for the root.
func (r recipe) text(name, at string, here place) string {
	var out strings.Builder
	line := func(text string) { out.WriteString(text + "\n") }
	script := "\n" + strings.TrimSpace(r.script(here)) + "\n"
	result, rails := `{"`+r.metric+`": %s`, []string(nil)
	values := ` "$value"`
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
	line("---")
	line("schedule: every 6h")
	line("metric: " + r.metric)
	line("metric_direction: " + r.better)
	if rails != nil {
		line("guardrails: [" + strings.Join(rails, ", ") + "]")
	}
	begin, goal := "", r.goal
	if at != "." {
		begin = "cd '" + strings.ReplaceAll(at, "'", `'\''`) + "'\n"
	}
	if r.setup != nil {
		if setup := r.setup(here); setup != "" {
			if begin != "" {
				setup = strings.TrimSpace(begin) + " && { " + setup + "; }"
			}
			line("setup: " + quoted(setup))
		}
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
	line("---\n\n# " + name + "\n\n## Goal\n\n" + goal + " " + capital(r.better) + " is better.\n\n## Target\n")
	below := notPlain().ReplaceAllString(at, "?")
	for _, target := range r.targets(here) {
		line("- `" + path.Join(below, target) + "`")
	}
	line("\nDo NOT modify:\n")
	for _, protected := range r.protect {
		line("- `" + path.Join(below, protected) + "`")
	}
	line("\n## Evaluation\n\n```bash\nset -e\n" + begin + strings.TrimSpace(script) + "\nprintf '" + result + "}\\n'" +
		values + ` > "$AUTOLOOP_RESULT"` + "\n```")
	return out.String()
}

func capital(word string) string { return strings.ToUpper(word[:1]) + word[1:] }

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
