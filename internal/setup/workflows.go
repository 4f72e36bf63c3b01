package setup

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/org/autoloop/internal/github/ci"
	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/program/checkout"
	"github.com/org/autoloop/workflows"
)

// Where the files of `iterate init` go.
const (
	workflowDir      = ".github/workflows/"
	mainWorkflow     = workflowDir + "autoloop.yml"
	pairWorkflow     = workflowDir + "autoloop-iterate.yml"
	pageWorkflow     = workflowDir + "autoloop-page.yml"
	gateWorkflow     = workflowDir + "autoloop-gate.yml"
	validateWorkflow = workflowDir + "autoloop-validate.yml"
	issueForm        = ".github/ISSUE_TEMPLATE/autoloop-program.md"
)

// initFiles are the files for this repository: the workflow in one of its two
// forms, with the names of the repository's CI in it, and what goes with it.
// Programs that judge configurations of agents get the gate, and those that name
// a workflow to start the right to start it. The directory of the programs is
// named where it is not the usual one, "". All use the same action.
func initFiles(root string, programs []*program.Program, dir string, o Options) ([]Step, error) {
	ci := ciWorkflows(root)
	uses, remark, err := actionOf(root, o)
	if err != nil {
		return nil, err
	}
	var files []Step
	dispatches := slices.ContainsFunc(programs, func(p *program.Program) bool { return p.CIWorkflow != "" })
	add := func(name, text string) {
		if dispatches {
			text = strings.ReplaceAll(text, "actions: read # write, where a program", "actions: write # a program")
		}
		files = append(
			files,
			Step{Name: name, Text: sealed(withPrograms(withAction(text, uses, remark), dir), "# ", "")},
		)
	}
	if wantsSimple(root, o) {
		add(mainWorkflow, withCI(workflows.Simple, ci))
	} else {
		add(mainWorkflow, withCI(workflows.Main, ci))
		add(pairWorkflow, workflows.Iterate)
	}
	var suites []string
	for _, p := range programs { // in the order of their names
		if p.Evaluation == program.Tasks && p.Err() == nil {
			suites = append(suites, p.Name)
		}
	}
	if len(suites) > 0 {
		add(gateWorkflow, strings.Replace(workflows.Gate, `["agent-config"]`, "["+plain.List(suites, len(suites))+"]", 1))
	}
	if o.Pages || exists(root, pageWorkflow) {
		add(pageWorkflow, workflows.Page)
	}
	add(validateWorkflow, workflows.Validate)
	return append(files, Step{Name: issueForm, Text: sealed(workflows.IssueTemplate, "<!-- ", " -->")}), nil
}

// modeLine is the line of our workflows that every use of the action has.
var modeLine = lazyregexp.New(`(?m)^( +)mode: [a-z]+\n`)

// withPrograms tells every use of the action where the programs are.
func withPrograms(text, dir string) string {
	if dir == "" {
		return text
	}
	return modeLine().ReplaceAllString(text, "${0}${1}programs-dir: "+strings.ReplaceAll(strconv.Quote(dir), "$", "$$")+"\n")
}

var programsLine = lazyregexp.New(`(?m)^ +programs-dir: .*$`)

// ProgramsDir is the directory of the programs in the repository, with slashes:
// as asked for, else as the workflow that is there says; "" for the usual one.
func ProgramsDir(root, asked string) (string, error) {
	if asked == "" {
		var with struct {
			Dir string `yaml:"programs-dir"`
		}
		_ = yaml.Unmarshal([]byte(programsLine().FindString(workflowOf(root))), &with) // another line says nothing
		return with.Dir, nil
	}
	dir := filepath.Clean(asked)
	if filepath.IsAbs(dir) {
		dir, _ = filepath.Rel(root, dir) // "" where there is no way, which is not local
	}
	if !filepath.IsLocal(dir) {
		return "", misuse.Errorf("--programs %s is not in the repository", asked)
	}
	if dir = filepath.ToSlash(dir); dir == checkout.DefaultPrograms {
		dir = ""
	}
	return dir, nil
}

// wantsSimple says whether the workflow has one job: as asked for, else as it
// is there, so that an upgrade changes nobody's choice.
func wantsSimple(root string, o Options) bool {
	if o.Simple != nil {
		return *o.Simple
	}
	text := workflowOf(root)
	return text != "" && !strings.Contains(text, "needs: schedule")
}

// workflowOf is the main workflow of a repository, "" for none.
func workflowOf(root string) string {
	data, _ := os.ReadFile(filepath.Join(root, mainWorkflow))
	return strings.ReplaceAll(string(data), "\r\n", "\n")
}

// maxCINames bounds the workflows that are named.
const maxCINames = 50

// ciLine is the line of our workflows that names the repository's CI.
const ciLine = `    workflows: ["CI"]`

// withCI puts the names of the repository's CI into a workflow; without any it
// stays as it is.
func withCI(text string, names []string) string {
	if len(names) == 0 {
		return text
	}
	return strings.Replace(text, ciLine, "    workflows: ["+plain.List(names, len(names))+"]", 1)
}

// ciWorkflows are the names of the repository's workflows that run on pushes or
// pull requests, sorted, as the event workflow_run knows them: by its path one without a
// name. One that cannot be read is left out: GitHub does not run it either.
func ciWorkflows(root string) []string {
	dir := os.DirFS(filepath.Join(root, workflowDir))
	entries, _ := fs.Glob(dir, "*.y*ml") // its error is of the pattern
	var names []string
	for _, entry := range entries {
		data, _ := fs.ReadFile(dir, entry)
		name, events, unread := ci.Events(data)
		_, pushed := events["push"]
		_, pulled := events["pull_request"]
		if unread == nil && (pushed || pulled) && !strings.HasPrefix(entry, "autoloop") &&
			!strings.Contains(name, "${{") { // which no list of workflows can name
			names = append(names, cmp.Or(name, workflowDir+entry))
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return names[:min(len(names), maxCINames)]
}

// Origin is where the running binary came from: the repository, its release and
// its commit, "" for what is not known.
type Origin struct {
	Repository, Version, Commit string
}

// defaultAction is what our workflows name.
const defaultAction = "org/autoloop@v1"

var (
	// actionName is OWNER/NAME@REF, as `uses:` has it.
	actionName = lazyregexp.New(`^[A-Za-z0-9._-]+/[A-Za-z0-9._/-]+@[A-Za-z0-9._/-]+$`)
	// usesLine is a use of our action in a workflow of ours, with the remark
	// behind it: a pin that init chose by itself has its release there.
	usesLine = lazyregexp.New(`(?m)^ +(?:- )?uses: (\S+@\S+)( # \S+)?\n(?: +id: .*\n)?(?: +if: .*\n)? +with:\n +mode: `)
	// release is no pseudo-version, which Go calls a commit without a tag.
	release  = lazyregexp.New(`^v\d+\.\d+\.\d+(-[A-Za-z][0-9A-Za-z.-]*)?$`)
	commitID = lazyregexp.New(`^[0-9a-f]{40}$`)
)

// pinned is the action of the binary's own source: its commit, with the release
// as a remark, or its release where the commit is not known.
func (o Origin) pinned() (uses, remark string) {
	repository, version := cmp.Or(o.Repository, "org/autoloop"), o.Version
	if !release().MatchString(version) {
		version = ""
	}
	switch {
	case commitID().MatchString(o.Commit):
		return repository + "@" + o.Commit, " # " + cmp.Or(version, "unreleased")
	case version != "":
		return repository + "@" + version, " # " + version
	default:
		return strings.Replace(defaultAction, "org/autoloop", repository, 1), ""
	}
}

// actionOf is what the workflows of a repository use: as asked for, else what is
// there unless an earlier init chose it by itself, else the binary's own source.
func actionOf(root string, o Options) (uses, remark string, err error) {
	if o.Action != "" {
		if !actionName().MatchString(o.Action) {
			return "", "", misuse.Errorf("--action %q is no action: give OWNER/NAME@REF, such as org/autoloop@v1",
				o.Action)
		}
		return o.Action, "", nil
	}
	uses, remark = o.Origin.pinned()
	found := usesLine().FindStringSubmatch(workflowOf(root))
	if found == nil || found[2] != "" || found[1] == defaultAction {
		return uses, remark, nil
	}
	return found[1], "", nil
}

// withAction names the action in every use of it. Where a release is known, its
// binary runs: a commit alone would be built from its source each time.
func withAction(text, uses, remark string) string {
	text = strings.ReplaceAll(text, "uses: "+defaultAction+"\n", "uses: "+uses+remark+"\n")
	if version := strings.TrimPrefix(remark, " # "); release().MatchString(version) &&
		commitID().MatchString(uses[strings.LastIndex(uses, "@")+1:]) {
		text = modeLine().ReplaceAllString(text, "${0}${1}version: "+version+"\n")
	}
	return text
}
