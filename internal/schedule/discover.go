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
// write programs here, strangers says why. An issue program is called as the state that
// has its number, else by the slug of its title, else that with the number behind it.
func Discover(files []*program.Program, issues []api.Issue, strangers map[string]string,
	states map[string][]byte,
) Discovery {
	d := Discovery{Issues: issues, Linked: map[string]int{}}
	// Names are those of states, by their issue; owners the issues that have a name:
	// those of states, and of programs as they are found.
	isFile, names, owners := map[string]bool{}, map[int]string{}, map[string]int{}
	for _, p := range files {
		isFile[p.Name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(states)) {
		if machine, _, err := state.ParseMachine(states[name]); err == nil && machine.Issue > 0 {
			owners[name], names[machine.Issue] = machine.Issue, cmp.Or(names[machine.Issue], name)
		}
	}
	byNumber := func(a, b api.Issue) int { return cmp.Compare(a.Number, b.Number) }
	for _, issue := range slices.SortedFunc(slices.Values(issues), byNumber) {
		number, title, known, stranger := issue.Number, strings.TrimSpace(issue.Title), names[issue.Number],
			strangers[issue.Author]
		// The own issue of a file program is one that we or somebody trusted opened; the
		// first one counts.
		own, shown := "", ""
		if found := ownTitle().FindStringSubmatch(title); found != nil && known == "" {
			own, shown = found[1], plain.Inline(found[1], 80)
		}
		switch {
		case isFile[known]:
			d.Linked[known] = number
		case stranger != "" && (own == "" || !strings.HasSuffix(issue.Author, "[bot]")):
			name := cmp.Or(shown, program.Slug(title), fmt.Sprintf("issue-%d", number))
			d.Untrusted = append(d.Untrusted, Untrusted{Name: name, Issue: number, Reason: stranger})
		case own == "":
			p := program.ParseIssue(number, issue.Title, []byte(issue.Body))
			owner := owners[p.Name]
			if known != "" {
				p.Name = known
			} else if isFile[p.Name] || owner != 0 && owner != number {
				end := fmt.Sprintf("-%d", number)
				p.Name = strings.TrimRight(p.Name[:min(len(p.Name), program.MaxName-len(end))], "-._") + end
			}
			owners[p.Name] = number
			d.Programs = append(d.Programs, p)
		case !isFile[own]:
			d.Warnings = append(d.Warnings, fmt.Sprintf("issue #%d is the own issue of program %s, which has no file: "+
				"close it, or give the program its file back", number, shown))
		case d.Linked[own] != 0:
			d.Warnings = append(d.Warnings, fmt.Sprintf("issue #%d is a second issue of program %s, after #%d: close it",
				number, own, d.Linked[own]))
		case owners[own] == 0 || owners[own] == number:
			d.Linked[own] = number
		}
	}
	return d
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
		if !strings.HasSuffix(issue.Author, "[bot]") {
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
	if at := slices.IndexFunc(pulls, api.Pull.Open); at >= 0 {
		return &pulls[at].Number, err
	}
	return nil, err
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
