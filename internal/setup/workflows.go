package setup

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

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
	data, _ := os.ReadFile(filepath.Join(root, filepath.FromSlash(mainWorkflow)))
	return strings.ReplaceAll(string(data), "\r\n", "\n")
}
