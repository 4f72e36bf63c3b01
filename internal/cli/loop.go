package cli

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/git/tree"
	"github.com/org/autoloop/internal/github/api"
	"github.com/org/autoloop/internal/github/sync"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/loop/evaluation"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/program"
)

// service is the loop of a program without agents, evaluation and GitHub.
func (d *dependencies) service(p *program.Program) *loop.Service {
	env := d.Env
	return &loop.Service{
		Program: p, Repo: d.Repo, Trees: &tree.Builder{Repo: d.Repo}, Memory: d.Memory,
		Masker: process.NewMasker(env.Environ),
		Base:   d.Options.Base, Force: d.Options.Force, RunDir: d.RunDir, Holder: env.LeaseHolder(),
		Alive:   env.HolderAlive,
		Environ: env.CommandEnviron, Now: env.Now, NewRun: env.NewRunID, RunURL: env.RunURL(),
		Page: env.Actions().ProgramPage(d.Repo.Root, p.Name), SignOff: signOff(env, d.Repo), Sleep: env.Sleeper(),
	}
}

// Recorder is the loop of a program that neither proposes nor measures. The
// issue is that of an issue program, else nil.
func (d *dependencies) Recorder(ctx context.Context, p *program.Program, issue *api.Issue) *loop.Service {
	service := d.service(p)
	if d.GitHub != nil {
		service.Repository = d.GitHub.Repository()
		service.GitHub = &sync.Service{Hub: d.GitHub, Program: p, Known: issue, Now: d.Env.Now}
		service.Alive = d.Env.HolderAliveOn(ctx, d.GitHub)
	}
	return service
}

// Measurer is the loop of a program that measures what is there and writes
// nothing.
func (d *dependencies) Measurer(p *program.Program, runner *process.Runner) (*loop.Service, error) {
	service := d.service(p)
	return service, d.evaluateBy(service, runner)
}

// evaluateBy makes a service run the evaluation, with the configuration that its
// program asks for; what is secret in that is masked.
func (d *dependencies) evaluateBy(service *loop.Service, runner *process.Runner) error {
	list, err := configFiles(d.Env, service.Program.PassConfig)
	if err != nil {
		return err
	}
	service.Masker = process.NewMasker(d.Env.Environ, configSecrets(list)...)
	service.Configure = func(home string) error { return writeConfig(home, list) }
	service.Eval = &evaluation.Evaluator{Runner: runner, Masker: service.Masker}
	service.Isolated = runner.Isolation != nil
	return nil
}

// Loop is the whole loop of a program.
func (d *dependencies) Loop(ctx context.Context, p *program.Program, issue *api.Issue) (*loop.Service, error) {
	budget, err := dollars(d.Options.BudgetUSD)
	if err != nil {
		return nil, err
	}
	output, err := d.Env.OutputDir(d.Options.Dir)
	if err != nil {
		return nil, err
	}
	p.Model = cmp.Or(d.Options.Model, p.Model)
	var said bytes.Buffer // a command that does nothing prints only the line that says why
	runner, err := d.Runner(ctx, p, &said)
	if err != nil {
		return nil, err
	}
	service := d.Recorder(ctx, p, issue)
	if budget != nil {
		service.BudgetUSD = budget.Float64()
	}
	if err := d.evaluateBy(service, runner); err != nil {
		return nil, err
	}
	service.Transcripts = d.Transcripts(output)
	if service.Agents, err = d.Agents(ctx, p, runner); err != nil {
		return nil, err
	}
	service.Agent, service.Model = service.Agents[0].Agent, service.Agents[0].Model
	_, _ = said.WriteTo(d.Env.Stderr)
	return service, nil
}

// Transcripts is where what agents and evaluations of this repository printed is kept,
// beside autoloop.json. Another one may have programs of the same names.
func (d *dependencies) Transcripts(output string) string {
	return filepath.Join(output, "transcripts", d.ownName())
}

// PageFile is where the page of this repository is, when nobody says where: in no
// checkout.
func (d *dependencies) PageFile(output string) string {
	return filepath.Join(output, "pages", d.ownName()+".html")
}

// ownName is this repository's alone on this machine.
func (d *dependencies) ownName() string {
	root := d.Repo.Root
	return fmt.Sprintf("%s-%.4x", filepath.Base(root), sha256.Sum256([]byte(root)))
}

// Runner runs a program's commands with the isolation that it asks for, and says on said
// what is to be known of that.
func (d *dependencies) Runner(ctx context.Context, p *program.Program, said io.Writer) (*process.Runner, error) {
	env := d.Env
	env.Stderr = said
	runner := env.NewRunner()
	// The configuration of a checkout may hold a token; its objects are read.
	hidden := []string{d.Repo.CommonDir, d.Repo.GitDir}
	readable := append(objectDirs(d.Repo.CommonDir), namedFiles(d.Env, p.AgentCommand)...)
	var err error
	runner.Isolation, err = isolate(ctx, env, p, runner, d.RunDir, hidden, readable)
	return runner, err
}

// CheckCIGate refuses a program that needs CI's word where GitHub is left out.
func (d *dependencies) CheckCIGate(p *program.Program) error {
	return program.NotRunnable(p.GateRefusal(d.GitHub != nil))
}

// RepositoryStopped says why the repository's variable AUTOLOOP_PAUSED stops
// everything, "" when it does not. It is not read where the environment has the variable
// already, empty or not, as a workflow passes it on, or where the token is a
// workflow's own, which may not read it.
func (d *dependencies) RepositoryStopped(ctx context.Context) string {
	passedOn := slices.ContainsFunc(d.Env.Environ,
		func(entry string) bool { return strings.HasPrefix(entry, "AUTOLOOP_PAUSED=") })
	if passedOn || d.Env.WorkflowToken() {
		return ""
	}
	return repositoryStopped(ctx, d.GitHub)
}

// dollars reads --budget-usd; nil is no bound.
func dollars(text string) (*metric.Value, error) {
	if text == "" {
		return nil, nil
	}
	usd, err := metric.ParseValue(text)
	if err != nil || usd.Sign() <= 0 {
		return nil, misuse.Errorf("--budget-usd %s: give a number above 0", text)
	}
	return &usd, nil
}
