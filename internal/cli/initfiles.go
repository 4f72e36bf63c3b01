package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/workflows"
)

// Where the files of `iterate init` go.
const (
	workflowDir   = ".github/workflows/"
	initWorkflow  = workflowDir + "autoloop.yml"
	initPair      = workflowDir + "autoloop-iterate.yml"
	initGate      = workflowDir + "autoloop-gate.yml"
	initValidate  = workflowDir + "autoloop-validate.yml"
	initIssueForm = ".github/ISSUE_TEMPLATE/autoloop-program.md"
)

// initFile is one file that a repository gets.
type initFile struct{ name, text string }

// initFiles are the files for this repository: the workflow in one of its two
// forms, with the names of the repository's CI in it, and what goes with it.
// Programs that judge configurations of agents get the gate, and those that name
// a workflow to start the right to start it.
func initFiles(root string, programs []*program.Program, o initOptions) ([]initFile, error) {
	ci, err := ciWorkflows(root)
	if err != nil {
		return nil, err
	}
	var files []initFile
	dispatches := slices.ContainsFunc(programs, func(p *program.Program) bool { return p.CIWorkflow != "" })
	add := func(name, text string) {
		if dispatches {
			text = strings.ReplaceAll(text, "actions: read # write, where a program", "actions: write # a program")
		}
		files = append(files, initFile{name, sealed(text, "# ", "")})
	}
	if wantsSimple(root, o) {
		add(initWorkflow, withCI(workflows.Simple, ci))
	} else {
		add(initWorkflow, withCI(workflows.Main, ci))
		add(initPair, workflows.Iterate)
	}
	if suites := withTasks(programs); len(suites) > 0 {
		add(initGate, strings.Replace(workflows.Gate, `["agent-config"]`, quotedList(suites), 1))
	}
	add(initValidate, workflows.Validate)
	return append(files, initFile{initIssueForm, sealed(workflows.IssueTemplate, "<!-- ", " -->")}), nil
}

// withTasks are the names of the programs that run task suites.
func withTasks(programs []*program.Program) []string {
	var names []string
	for _, p := range programs {
		if p.Evaluation == program.Tasks && p.Err() == nil {
			names = append(names, p.Name)
		}
	}
	slices.Sort(names)
	return names
}

// wantsSimple says whether the workflow has one job: as asked for, else as it
// is there, so that an upgrade changes nobody's choice.
func wantsSimple(root string, o initOptions) bool {
	if o.simple || o.matrix {
		return o.simple
	}
	data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(initWorkflow)))
	return err == nil && !strings.Contains(string(data), "needs: schedule")
}
