package schedule

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/github/api"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/misuse"
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

// DiscoverIssues reads the issue programs that have a label. That GitHub is down is a
// warning: file programs run, and issue programs known from their states are left alone.
func DiscoverIssues(ctx context.Context, client *api.Client, label string, files []*program.Program,
	states map[string][]byte,
) (Discovery, error) {
	issues, err := client.Issues(ctx, label, "open")
	var strangers map[string]string
	if err == nil {
		strangers, err = untrusted(ctx, client, issues)
	}
	if err != nil {
		if ctx.Err() != nil {
			return Discovery{}, err
		}
		_ = api.Reported(err) // it is by this warning
		unread := unread(err, files, states)
		return Discovery{Unread: unread, Warnings: []string{unread}}, nil
	}
	return Discover(files, issues, strangers, states), nil
}

// unread says that issues could not be read, and which programs that leaves
// alone.
func unread(err error, files []*program.Program, states map[string][]byte) string {
	known := slices.Sorted(maps.Keys(states))
	known = slices.DeleteFunc(known, func(name string) bool {
		machine, _, err := state.ParseMachine(states[name])
		return err != nil || machine.Issue == 0 ||
			slices.ContainsFunc(files, func(p *program.Program) bool { return p.Name == name })
	})
	warning := fmt.Sprintf("issue programs were not read and do not run now: %v", err)
	if len(known) > 0 {
		warning += "; left as they are: " + plain.Paths(known, plain.Few)
	}
	return warning
}

// untrusted are the authors of issues who may not push here, and so may not
// write programs, with the reason. If the token may not read that, they are untrusted.
func untrusted(ctx context.Context, client *api.Client, issues []api.Issue) (map[string]string, error) {
	var people []string
	for _, issue := range issues {
		if !strings.HasSuffix(issue.Author, "[bot]") && !slices.Contains(people, issue.Author) {
			people = append(people, issue.Author)
		}
	}
	writers, refused, err := client.Writers(ctx, people)
	why := map[string]string{}
	for _, issue := range issues {
		if writers[issue.Author] {
			continue
		}
		trusted, lacks := program.DefaultTrusted(), ""
		from := strings.Join(trusted, ", ")
		if slices.Contains(trusted, issue.Association) {
			lacks, from = " and may not push to it", "people who may"
		}
		why[issue.Author] = fmt.Sprintf("%s is %s in this repository%s; programs are taken from %s: let one of them open "+
			"it anew", plain.Inline(issue.Author, 60), issue.Association, lacks, from)
		if refused != nil {
			why[issue.Author] += fmt.Sprintf("; what they may do could not be read: %v", refused)
		}
	}
	return why, err
}

// OpenPull is the open pull request of a branch, or nil.
func OpenPull(ctx context.Context, client *api.Client, branch string) (*int, error) {
	pulls, err := client.Pulls(ctx, branch)
	if err != nil {
		return nil, err
	}
	for _, pull := range pulls {
		if pull.Open() {
			return &pull.Number, nil
		}
	}
	return nil, nil
}

// WriteIssuePrograms writes what issue programs say beside autoloop.json, for
// people and workflows that read it there.
func WriteIssuePrograms(dir string, programs []*program.Program) error {
	dir = filepath.Join(dir, "issue-programs")
	old, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range old {
		name, ours := strings.CutSuffix(e.Name(), ".md")
		if ours && program.ValidName(name) == nil && e.Type().IsRegular() {
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	if len(programs) == 0 {
		_ = os.Remove(dir) // it stays where somebody else has files in it
		return nil
	}
	if err := files.MakeTrusted(dir, 0o755); err != nil {
		return err
	}
	for _, p := range programs {
		if err := files.WriteFile(filepath.Join(dir, p.Name+".md"), []byte(p.Source), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// PlanFile is the name of the file that the scheduler writes.
const PlanFile = "autoloop.json"

// ReadPlan reads what the scheduler wrote for the repository at root: the programs that it
// selected.
func ReadPlan(file, root string) ([]string, error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, misuse.Errorf("%s does not exist: run `scheduler` first, or name a program with --program", file)
	}
	if err != nil {
		return nil, err
	}
	var plan struct {
		Selected *string `json:"selected"`
		Matrix   Matrix  `json:"matrix"`
		RepoDir  string  `json:"repo_dir"`
	}
	if err := json.Unmarshal(data, &plan); err != nil {
		return nil, fmt.Errorf("read %s: %w; run `scheduler` again", file, err)
	}
	if plan.RepoDir != "" && plan.RepoDir != root {
		return nil, misuse.Errorf("%s was made for %s, not for %s: run `scheduler` here, or name a program with "+
			"--program", file, plan.RepoDir, root)
	}
	if plan.Selected != nil && len(plan.Matrix.Program) == 0 { // the original scheduler has no matrix
		return []string{*plan.Selected}, nil
	}
	return plan.Matrix.Program, nil
}
