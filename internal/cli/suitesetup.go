package cli

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/agent/commandline"
	"github.com/org/autoloop/internal/git/tree"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/suite/judge"
	"github.com/org/autoloop/internal/suite/sandbox"
	"github.com/org/autoloop/internal/suite/score"
	"github.com/org/autoloop/internal/suite/taskrun"
	"github.com/org/autoloop/internal/suite/work"
)

// suiteSetup finds who works on a suite and who grades it, by the keys of its program or of a
// settings file.
type suiteSetup struct {
	Env     Env
	Program *program.Program
	// Root is where files that the executor's command names are looked for.
	Root string
	// Agent proposes, and works on the suite unless the program says who. Model is
	// that agent's; "" is the program's.
	Agent, Model string
	// Named is what names the executor, for messages.
	Named string
	// Quiet says that isolation was spoken of already.
	Quiet bool
	Tell  func(string)
}

// isolated runs agents and checks in a directory, isolated where this machine can: of the
// user's home they see what their commands name, and of what is hidden nothing.
func (s *suiteSetup) isolated(ctx context.Context, dir string, hidden []string,
	commands ...string,
) (runner *process.Runner, err error) {
	env := s.Env
	runner = env.NewRunner()
	if s.Quiet {
		env.Stderr = io.Discard
	}
	var named []string
	for _, command := range commands {
		named = append(named, namedFiles(env, command)...)
	}
	runner.Isolation, err = isolate(ctx, env, s.Program, runner, dir, hidden, named)
	return runner, err
}

// executor names who works on the cases.
func (s *suiteSetup) executor() string {
	name := s.Agent
	switch {
	case s.Program.Executor != "":
		name = s.Program.Executor
	case s.Program.ExecutorCommand != "", name == "" && s.Program.AgentCommand != "":
		name = "command"
	}
	return taskrun.AgentOf(name)
}

// model is the executor's.
func (s *suiteSetup) model() string {
	if s.Program.Executor != "" || s.Program.ExecutorCommand != "" {
		return s.Program.Model
	}
	return cmp.Or(s.Model, s.Program.Model)
}

// config is where agents keep the configuration of a project: what the target matches,
// and the usual files besides, such as a CLAUDE.md that points to the target's AGENTS.md.
func (s *suiteSetup) config() taskrun.Config {
	config := taskrun.AgentConfig()
	config.Include = append(config.Include, program.Texts(s.Program.Targets)...)
	return config
}

// Command is the executor's, with the files of the checkout that it names as absolute
// paths: the cases run in sandboxes elsewhere. A file of the configuration stays as it
// is named, since every sandbox has its side's own.
func (s *suiteSetup) Command() string { return s.absolute(s.Program.WorkerCommand()) }

func (s *suiteSetup) absolute(command string) string {
	config := s.config()
	return process.ReplaceWords(command, func(word string) string {
		file := filepath.FromSlash(word)
		if info, err := os.Stat(filepath.Join(s.Root, file)); err != nil || !info.Mode().IsRegular() ||
			!filepath.IsLocal(file) {
			return word
		}
		if s.Program.Evaluation == program.Tasks && config.Match(path.Clean(word)) {
			return word
		}
		return filepath.Join(s.Root, file)
	})
}

// ready finds an agent that can work on cases: the tuner only turns numbers.
func (s *suiteSetup) ready(ctx context.Context, name, command string, runner *process.Runner,
	masker process.Masker,
) (agent.Agent, error) {
	if name == (agent.Tuner{}).Name() {
		return nil, misuse.Errorf("%s: the tuner works on no case; name who does with `executor`", s.Named)
	}
	found, err := newRegistry(s.Env, runner, masker).Ready(ctx, name,
		agent.Situation{Env: s.Env.Environ, Command: command, Dir: s.Root})
	if err != nil && ctx.Err() == nil {
		return nil, misuse.Errorf("%s: %w", s.Named, err)
	}
	return found, err
}

func (s *suiteSetup) sandboxes(runner *process.Runner, masker process.Masker) *sandbox.Maker {
	return &sandbox.Maker{
		Runner: runner, Masker: masker, Environ: s.Env.CommandEnviron, Remove: tree.RemoveAll,
		Offline: !s.Program.Network,
	}
}

// judge finds who grades, nil and why there is nobody. An agent that judges gets the
// variables of its own login and no others.
func (s *suiteSetup) judge(dir string, masker process.Masker) (judge.Grader, string, error) {
	home, env := filepath.Join(dir, "judge"), s.Env
	asked := commandline.All().Asked()
	variables, err := env.CommandEnviron(home, asked.Question.Variables)
	if err != nil {
		return nil, "", err
	}
	variables = append(variables, asked.Question.Env(env.Getenv)...)
	chosen, none, err := judge.Choose(judge.Setting{
		Mode: judge.Mode(s.Program.Judge), Model: s.Program.JudgeModel, Getenv: env.Getenv,
		Complete: judge.Complete(env.Complete), Price: agent.Price,
		CLI: judge.CommandLine{Agent: asked, Runner: env.NewRunner(), Dir: home, Env: variables}, Masker: masker,
	})
	if err != nil {
		return nil, "", misuse.New(err)
	}
	return chosen, none, nil
}

// describe says who works on the cases, and who grades them; nil grades nothing.
func (s *suiteSetup) describe(ctx context.Context, worker agent.Agent, judge judge.Grader) (*history.Executor, error) {
	found := &history.Executor{Agent: worker.Name(), Model: s.model()}
	if judge != nil {
		found.Judge, found.JudgeVersion = judge.Name(), s.judgeVersion(ctx, judge)
	}
	if worker.Name() == "command" {
		command := s.Command()
		found.Command, found.CommandSHA256 = process.NewMasker(s.Env.Environ).String(command),
			commandDigest(s.Env, command)
	}
	program, outside := worker.(agent.Installed)
	if !outside {
		return found, nil
	}
	version, err := program.Version(ctx)
	if err != nil {
		return found, fmt.Errorf("ask agent %s for its version: %w", worker.Name(), err)
	}
	found.Version = version
	return found, nil
}

// judgeVersion is what the agent that grades says of itself; "" when it does not, and
// of an API.
func (s *suiteSetup) judgeVersion(ctx context.Context, judge judge.Grader) string {
	asked, is := judge.(interface{ Agent() string })
	if !is || asked.Agent() == "" {
		return ""
	}
	found, err := newRegistry(s.Env, s.Env.NewRunner(), process.Masker{}).Lookup(asked.Agent())
	installed, is := found.(agent.Installed)
	if err != nil || !is {
		return ""
	}
	version, _ := installed.Version(ctx) // "" when it does not say
	return version
}

// commandDigest identifies the content of the files that an agent's command names.
func commandDigest(env Env, text string) string {
	sum := sha256.New()
	for _, name := range namedFiles(env, text) {
		const most = 64 << 20
		info, err := os.Stat(name)
		if err != nil || !info.Mode().IsRegular() || info.Size() > most {
			continue
		}
		if file, err := os.Open(name); err == nil {
			fmt.Fprintf(sum, "%q %d\n", name, info.Size())
			_, _ = io.Copy(sum, io.LimitReader(file, most))
			_ = file.Close()
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// Improver finds who changes a skill, isolated in a directory, and its command.
func (s *suiteSetup) Improver(ctx context.Context, dir string) (agent.Agent, string, error) {
	command := s.absolute(s.Program.AgentCommand)
	runner, err := s.isolated(ctx, dir, nil, command)
	if err != nil {
		return nil, "", err
	}
	registry := newRegistry(s.Env, runner, process.NewMasker(s.Env.Environ))
	found, err := registry.Ready(ctx, s.Agent, agent.Situation{Env: s.Env.Environ, Command: command, Dir: s.Env.Dir})
	if err != nil && ctx.Err() == nil {
		err = misuse.New(err)
	}
	return found, command, err
}

// thresholdsOf returns the thresholds that a program's frontmatter has.
func thresholdsOf(p *program.Program) (score.Thresholds, error) {
	thresholds := score.Thresholds{
		ObjectiveDropIsRegression: p.Thresholds.ObjectiveDropIsRegression,
		NetLossIsRegression:       p.Thresholds.NetLossIsRegression,
	}
	for _, number := range []struct {
		name string
		from float64
		to   *metric.Value
	}{
		{"min-composite-gain", p.Thresholds.MinCompositeGain, &thresholds.MinCompositeGain},
		{"regression-composite-drop", p.Thresholds.RegressionCompositeDrop, &thresholds.RegressionCompositeDrop},
		{"cost-tolerance", p.Thresholds.CostTolerance, &thresholds.CostTolerance},
	} {
		value, err := metric.FromFloat(number.from)
		if err != nil {
			return thresholds, misuse.Errorf("%s: %s: %w", p.File, number.name, err)
		}
		*number.to = value
	}
	return thresholds, nil
}

// budgetOf are the bounds of a run: those of the program without a span, which are for
// one run, and dollars that were given besides.
func budgetOf(p *program.Program, text string) (work.Budget, error) {
	budget := work.Budget{UnknownCostPauses: p.UnknownCost == "pause"}
	usd := strings.TrimSpace(text)
	for _, given := range p.Budgets {
		budget.Tokens, budget.Time = given.Tokens, time.Duration(given.Minutes*float64(time.Minute))
		if given.USD > 0 && usd == "" {
			usd = fmt.Sprint(given.USD)
		}
	}
	var err error
	budget.USD, err = dollars(usd)
	return budget, err
}
