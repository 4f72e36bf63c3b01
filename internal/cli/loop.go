package cli

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"path/filepath"

	"github.com/org/autoloop/internal/git/tree"
	"github.com/org/autoloop/internal/github/sync"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/loop/evaluation"
	"github.com/org/autoloop/internal/loop/strategy"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/program"
)

// service is the loop of a program without agents, evaluation and GitHub.
func (a *App) service(ctx context.Context, p *program.Program) *loop.Service {
	return &loop.Service{
		Program: p, Repo: a.Repo, Trees: &tree.Builder{Repo: a.Repo}, Memory: a.Memory,
		Strategy: strategy.All().Named(p.Strategy), Masker: process.NewMasker(a.Environ),
		Base: a.Base, Force: a.Force, RunDir: a.RunDir, Holder: a.LeaseHolder(), Alive: a.alive(ctx),
		Environ: a.CommandEnviron, Now: a.Now, NewRun: a.NewRunID, RunURL: a.RunURL(),
		Page: a.ProgramPage(a.Checkout, p.Name), SignOff: a.signOff(), Sleep: a.Sleep,
	}
}

// recorder is the loop of a program that neither proposes nor measures.
func (a *App) recorder(ctx context.Context, p *program.Program) *loop.Service {
	service := a.service(ctx, p)
	if a.GitHub != nil {
		service.Repository = a.GitHub.Repository()
		service.GitHub = &sync.Service{Client: a.GitHub, Program: p, Known: a.issue, Now: a.Now}
	}
	return service
}

// selectedRecorder is the recorder of the program that is selected.
func (a *App) selectedRecorder(ctx context.Context) (*loop.Service, error) {
	p, err := a.selected(ctx)
	if err == nil {
		err = p.GateRefusal(a.GitHub != nil).Err()
	}
	if err != nil {
		return nil, err
	}
	return a.recorder(ctx, p), nil
}

// measurer is the loop of a program that measures what is there and writes nothing, and
// the runner of its evaluation.
func (a *App) measurer(ctx context.Context, p *program.Program) (*loop.Service, *process.Runner, error) {
	service := a.service(ctx, p)
	runner, notes, err := a.evaluator(ctx, service)
	if err == nil {
		fmt.Fprint(a.Stderr, notes)
	}
	return service, runner, err
}

// evaluator makes a service run the evaluation, with the isolation and the configuration
// that its program asks for; what is secret in that is masked. Notes say what is to be
// known of the isolation.
func (a *App) evaluator(ctx context.Context, service *loop.Service) (runner *process.Runner, notes string, err error) {
	runner = a.NewRunner()
	// The configuration of a checkout may hold a token; its objects are read.
	hidden := []string{a.Repo.CommonDir, a.Repo.GitDir}
	readable := append(objectDirs(ctx, a.Repo), a.namedFiles(service.Program.AgentCommand)...)
	runner.Isolation, notes, err = a.isolate(ctx, service.Program, runner, a.RunDir, hidden, readable)
	if err != nil {
		return nil, "", err
	}
	list, err := a.passConfig(service.Program.PassConfig)
	service.Masker = process.NewMasker(a.Environ, list.secrets()...)
	service.Configure = list.write
	service.Eval = &evaluation.Evaluator{Runner: runner, Masker: service.Masker}
	service.Isolated = runner.Isolation != nil
	return runner, notes, err
}

// newLoop is the whole loop of a program. One that cannot begin prints only the line that
// says why.
func (a *App) newLoop(ctx context.Context, p *program.Program) (*loop.Service, error) {
	output, err := a.outputDir()
	if err != nil {
		return nil, err
	}
	p.Model = cmp.Or(a.Model, p.Model)
	service := a.recorder(ctx, p)
	runner, notes, err := a.evaluator(ctx, service)
	if err != nil {
		return nil, err
	}
	if a.BudgetUSD != nil {
		service.BudgetUSD = a.BudgetUSD.Float64()
	}
	service.Transcripts = a.transcripts(output)
	if service.Agents, err = a.agents(ctx, p, runner); err != nil {
		return nil, err
	}
	fmt.Fprint(a.Stderr, notes)
	return service, a.measureBySuite(ctx, service)
}

// transcripts is where what agents and evaluations of this repository printed is kept,
// beside autoloop.json. Another one may have programs of the same names.
func (a *App) transcripts(output string) string {
	return filepath.Join(output, "transcripts", a.ownName())
}

// ownName is this repository's alone on this machine.
func (a *App) ownName() string {
	root := a.Checkout
	return fmt.Sprintf("%s-%.4x", filepath.Base(root), sha256.Sum256([]byte(root)))
}

// paused says why nothing runs: AUTOLOOP_PAUSED of the environment, or the repository's
// variable where the scheduler has not looked at it. "" is no reason.
func (a *App) paused(ctx context.Context) string {
	if why := a.Stopped(); why != "" || a.Program == "" {
		return why
	}
	if why := a.repositoryStopped(ctx); why != "" {
		return "the repository's variable " + why
	}
	return ""
}
