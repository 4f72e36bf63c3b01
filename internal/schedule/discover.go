package schedule

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/github/api"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/program"
)

// Issue is an open issue with the label of programs.
type Issue struct {
	api.Issue
	// Untrusted says why the author may not write programs here; "" when they may.
	Untrusted string
}

// Discovery is what the issues of a repository came to.
type Discovery struct {
	// Programs are the issue programs that may run.
	Programs []*program.Program
	// Numbers are their issues by name.
	Numbers map[string]int
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
// issues alone, so that a stranger's takes none away.
func Discover(files []*program.Program, issues []Issue, states map[string][]byte) Discovery {
	d := discoverer{
		Discovery: Discovery{Numbers: map[string]int{}, Linked: map[string]int{}},
		files:     map[string]bool{}, names: map[int]string{}, owners: map[string]int{},
	}
	for _, p := range files {
		d.files[p.Name] = true
	}
	d.readStates(states)
	issues = slices.Clone(issues)
	slices.SortFunc(issues, func(a, b Issue) int { return cmp.Compare(a.Number, b.Number) })
	for _, issue := range issues {
		d.sort(issue)
	}
	return d.Discovery
}

type discoverer struct {
	Discovery
	files  map[string]bool
	names  map[int]string // of states, by their issue
	owners map[string]int // issues of states, by name
}

func (d *discoverer) readStates(states map[string][]byte) {
	for name, data := range states {
		machine, _, err := state.ParseMachine(data)
		if err != nil || machine.Issue == 0 {
			continue
		}
		d.owners[name] = machine.Issue
		if known, taken := d.names[machine.Issue]; !taken || name < known {
			d.names[machine.Issue] = name
		}
	}
}

func (d *discoverer) sort(issue Issue) {
	known := d.names[issue.Number]
	title := strings.TrimSpace(issue.Title)
	own := ownTitle().FindStringSubmatch(title)
	switch {
	case known != "" && d.files[known]:
		d.Linked[known] = issue.Number
	case own != nil && known == "":
		d.link(own[1], issue)
	case issue.Untrusted != "":
		name := cmp.Or(program.Slug(title), fmt.Sprintf("issue-%d", issue.Number))
		d.Untrusted = append(d.Untrusted, Untrusted{Name: name, Issue: issue.Number, Reason: issue.Untrusted})
	default:
		d.adopt(issue, known)
	}
}

// link takes an issue for the own issue of a file program, when we or somebody
// trusted opened it; the first one counts.
func (d *discoverer) link(name string, issue Issue) {
	switch {
	case issue.Untrusted != "" && !strings.HasSuffix(issue.Author, "[bot]"):
		d.Untrusted = append(d.Untrusted,
			Untrusted{Name: plain.Inline(name, 80), Issue: issue.Number, Reason: issue.Untrusted})
	case !d.files[name]:
		d.Warnings = append(d.Warnings,
			fmt.Sprintf("issue #%d is the own issue of program %s, which has no file: close it, or give the program "+
				"its file back",
				issue.Number, plain.Inline(name, 80)))
	case d.Linked[name] != 0:
		d.Warnings = append(d.Warnings,
			fmt.Sprintf("issue #%d is a second issue of program %s, after #%d: close it", issue.Number, name,
				d.Linked[name]))
	case d.owners[name] == 0 || d.owners[name] == issue.Number:
		d.Linked[name] = issue.Number
	}
}

func (d *discoverer) adopt(issue Issue, known string) {
	p := program.ParseIssue(issue.Number, issue.Title, []byte(issue.Body))
	p.Name = d.name(p.Name, known, issue.Number)
	d.Numbers[p.Name] = issue.Number
	d.Programs = append(d.Programs, p)
}

// name is the name of a state that has the issue's number, else the slug, else
// that with the number behind it.
func (d *discoverer) name(slug, known string, number int) string {
	if known != "" && d.Numbers[known] == 0 {
		return known
	}
	taken := func(name string) bool {
		owner := d.owners[name]
		return d.files[name] || d.Numbers[name] != 0 || owner != 0 && owner != number
	}
	if !taken(slug) {
		return slug
	}
	end := fmt.Sprintf("-%d", number)
	return strings.TrimRight(slug[:min(len(slug), program.MaxName-len(end))], "-._") + end
}
