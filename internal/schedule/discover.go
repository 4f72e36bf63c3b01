package schedule

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/github/api"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/program"
)

// Discovery is what the issues of a repository came to.
type Discovery struct {
	// Programs are the issue programs that may run, Issues all that were looked at.
	Programs []*program.Program
	Issues   []api.Issue
	// Linked are the own issues of file programs, by name.
	Linked    map[string]int
	Untrusted []Untrusted
	Warnings  []string
	// Unread says why the issues could not be read; "" when they were.
	Unread string
}

// ownTitle is the title of a file program's own issue.
var ownTitle = lazyregexp.New(`^\[Autoloop: ([^\[\]]+)\]$`)

// Discover tells issue programs from the own issues of file programs and from
// what strangers wrote. A state whose Issue row has the number of an issue
// keeps its name, whatever the title becomes. Names are given to trusted
// issues alone, so that a stranger's takes none away: of the authors who may not
// write programs here, strangers says why.
func Discover(files []*program.Program, issues []api.Issue, strangers map[string]string,
	states map[string][]byte,
) Discovery {
	d := discoverer{
		Discovery: Discovery{Issues: issues, Linked: map[string]int{}}, strangers: strangers,
		files: map[string]bool{}, names: map[int]string{}, owners: map[string]int{},
	}
	for _, p := range files {
		d.files[p.Name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(states)) {
		if machine, _, err := state.ParseMachine(states[name]); err == nil && machine.Issue > 0 {
			d.owners[name], d.names[machine.Issue] = machine.Issue, cmp.Or(d.names[machine.Issue], name)
		}
	}
	byNumber := func(a, b api.Issue) int { return cmp.Compare(a.Number, b.Number) }
	for _, issue := range slices.SortedFunc(slices.Values(issues), byNumber) {
		d.sort(issue)
	}
	return d.Discovery
}

type discoverer struct {
	Discovery
	strangers map[string]string
	files     map[string]bool
	names     map[int]string // of states, by their issue
	owners    map[string]int // issues that have a name: those of states, and of programs as they are found
}

func (d *discoverer) sort(issue api.Issue) {
	known := d.names[issue.Number]
	title := strings.TrimSpace(issue.Title)
	own := ownTitle().FindStringSubmatch(title)
	switch {
	case known != "" && d.files[known]:
		d.Linked[known] = issue.Number
	case own != nil && known == "":
		d.link(own[1], issue)
	case d.strangers[issue.Author] != "":
		d.refuse(cmp.Or(program.Slug(title), fmt.Sprintf("issue-%d", issue.Number)), issue)
	default:
		d.adopt(issue, known)
	}
}

// refuse notes that the issue of a stranger is not run.
func (d *discoverer) refuse(name string, issue api.Issue) {
	d.Untrusted = append(d.Untrusted, Untrusted{Name: name, Issue: issue.Number, Reason: d.strangers[issue.Author]})
}

// link takes an issue for the own issue of a file program, when we or somebody
// trusted opened it; the first one counts.
func (d *discoverer) link(name string, issue api.Issue) {
	switch {
	case d.strangers[issue.Author] != "" && !strings.HasSuffix(issue.Author, "[bot]"):
		d.refuse(plain.Inline(name, 80), issue)
	case !d.files[name]:
		d.Warnings = append(d.Warnings, fmt.Sprintf("issue #%d is the own issue of program %s, which has no file: "+
			"close it, or give the program its file back", issue.Number, plain.Inline(name, 80)))
	case d.Linked[name] != 0:
		d.Warnings = append(d.Warnings,
			fmt.Sprintf("issue #%d is a second issue of program %s, after #%d: close it", issue.Number, name,
				d.Linked[name]))
	case d.owners[name] == 0 || d.owners[name] == issue.Number:
		d.Linked[name] = issue.Number
	}
}

// adopt takes an issue for a program: by the name of the state that has its number, else the
// slug of its title, else that with the number behind it.
func (d *discoverer) adopt(issue api.Issue, known string) {
	p := program.ParseIssue(issue.Number, issue.Title, []byte(issue.Body))
	owner := d.owners[p.Name]
	if known != "" {
		p.Name = known
	} else if d.files[p.Name] || owner != 0 && owner != issue.Number {
		end := fmt.Sprintf("-%d", issue.Number)
		p.Name = strings.TrimRight(p.Name[:min(len(p.Name), program.MaxName-len(end))], "-._") + end
	}
	d.owners[p.Name] = issue.Number
	d.Programs = append(d.Programs, p)
}
