package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/github/api"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/skill/evalrun"
)

// chooseProgram finds the program that was asked for, or that the scheduler
// selected; nil when it selected none. The issue is that of an issue program.
func chooseProgram(ctx context.Context, env Env, repo *git.Repo, hub *api.Client, o iterateOptions) (p *program.Program, issue *api.Issue, err error) {
	name := o.program
	if name == "" {
		selected, err := selectedProgram(env, repo, o.dir)
		if err != nil || selected == "" {
			return nil, nil, err
		}
		name = selected
	}
	source := memory.Programs{Root: repo.Root, Dir: o.programs, Parse: program.Parse}
	p, err = source.Find(name)
	if err != nil {
		return nil, nil, err
	}
	if p == nil && hub != nil {
		if p, issue, err = issueProgram(ctx, repo, hub, source, o, name); err != nil {
			return nil, nil, err
		}
	}
	if p == nil {
		all, err := source.Load(false)
		if err != nil {
			return nil, nil, err
		}
		return nil, nil, Usagef("there is no program %q (there are: %s); make one with `scheduler new %s`", name, programNames(all), name)
	}
	if err := resolve(ctx, repo, p); err != nil {
		return nil, nil, err
	}
	if o.ciWorkflow != "" {
		if !workflowFile.MatchString(o.ciWorkflow) {
			return nil, nil, Usagef("--ci-workflow %q is no file name of a workflow, such as ci.yml", o.ciWorkflow)
		}
		p.CIWorkflow = o.ciWorkflow
	}
	return p, issue, runnable(p)
}

// resolve tells the program's targets from prose, by the files that are tracked,
// and protects what the cases of its skill are given. A suite that cannot be read
// is told where it is measured.
func resolve(ctx context.Context, repo *git.Repo, p *program.Program) error {
	files, err := trackedFiles(ctx, repo)
	if err != nil {
		return err
	}
	p.Resolve(func(path string) bool { _, tracked := slices.BinarySearch(files, path); return tracked })
	if p.Evaluation == program.Skill && p.Skill != "" {
		if skill, err := evalrun.Load(repo.Root, p.Skill, p.Evals); err == nil {
			p.ProtectInputs(inputsOf(p.Skill, skill))
		}
	}
	return nil
}

// inputsOf lists the files that cases name, as paths of the repository.
func inputsOf(dir string, skill *evalrun.Skill) []string {
	var files []string
	for _, c := range skill.Evals.Cases {
		for _, file := range c.Files {
			files = append(files, path.Join(dir, file.From))
		}
	}
	return files
}

// workflowFile matches what GitHub takes for a workflow in .github/workflows.
var workflowFile = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]*\.ya?ml$`)

func programNames(programs []*program.Program) string {
	names := make([]string, len(programs))
	for i, p := range programs {
		names[i] = p.Name
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// runnable reports why a program cannot be iterated.
func runnable(p *program.Program) error {
	if err := p.Err(); err != nil {
		return &problemsError{&UsageError{err}, p.Errors()}
	}
	if missing := p.Missing(); len(missing) > 0 && !p.Unconfigured {
		return &problemsError{Usagef("%s", missing[0]), missing[:1]}
	}
	if p.Unconfigured {
		return Usagef("%s: the program is not configured yet: replace its placeholders and remove the line %s", p.File, program.Sentinel)
	}
	return nil
}

// selectedProgram reads the scheduler's choice.
func selectedProgram(env Env, repo *git.Repo, dir string) (string, error) {
	file := filepath.Join(outputDir(env, dir), "autoloop.json")
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", Usagef("%s does not exist: run `scheduler` first, or name a program with --program", file)
	}
	if err != nil {
		return "", err
	}
	var plan struct {
		Selected *string `json:"selected"`
		RepoDir  string  `json:"repo_dir"`
	}
	if err := json.Unmarshal(data, &plan); err != nil {
		return "", fmt.Errorf("read %s: %w; run `scheduler` again", file, err)
	}
	if plan.RepoDir != "" && plan.RepoDir != repo.Root {
		return "", Usagef("%s was made for %s, not for %s: run `scheduler` here, or name a program with --program", file, plan.RepoDir, repo.Root)
	}
	if plan.Selected == nil {
		return "", nil
	}
	return *plan.Selected, nil
}
