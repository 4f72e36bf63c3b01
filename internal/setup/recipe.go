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
	// script writes the result to $AUTOLOOP_RESULT.
	script func(place) string
}

// text is the program file for a directory below the root, "." for the root.
func (r recipe) text(name, at string, here place) string {
	var out strings.Builder
	line := func(text string) { out.WriteString(text + "\n") }
	line("---")
	line("schedule: every 6h")
	line("metric: " + r.metric)
	line("metric_direction: " + r.better)
	begin := ""
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
	line("---\n\n# " + name + "\n\n## Goal\n\n" + r.goal + " " + capital(r.better) + " is better.\n\n## Target\n")
	below := notPlain().ReplaceAllString(at, "?")
	for _, target := range r.targets(here) {
		line("- `" + path.Join(below, target) + "`")
	}
	line("\nDo NOT modify:\n")
	for _, protected := range r.protect {
		line("- `" + path.Join(below, protected) + "`")
	}
	line("\n## Evaluation\n\n```bash\nset -e\n" + begin + strings.TrimSpace(r.script(here)) + "\n```")
	return out.String()
}

func capital(word string) string { return strings.ToUpper(word[:1]) + word[1:] }
