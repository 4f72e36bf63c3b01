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
	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/suite/evalrun"
	"github.com/org/autoloop/internal/suite/judge"
	"github.com/org/autoloop/internal/suite/sandbox"
)

// suiteSetup finds who works on a suite and who grades it, by the keys of its program or of a
// settings file.
type suiteSetup struct {
	*App

	program *program.Program
	// root is where files that the executor's command names are looked for.
	root string
	// executor names who works on the cases. Its command has the files of the checkout that it
	// names as absolute paths, since the cases run in sandboxes elsewhere.
	executor, model, command string
	// tell is told of each case.
	tell func(string)

	// commands run in a sandbox, and notes are for people, of that: what runner made ready.
	commands *process.Runner
	notes    string
}

// suiteSetup lets the agent that proposes work on the cases, unless the program says who does;
// model is that agent's, "" for the program's. People are told of each case.
func (a *App) suiteSetup(p *program.Program, root, agent, model string) suiteSetup {
	s := suiteSetup{
		App: a, program: p, root: root, model: cmp.Or(model, p.Model),
		tell: func(line string) { fmt.Fprintln(a.Stderr, line) },
	}
	switch {
	case p.Executor != "":
		agent, s.model = p.Executor, p.Model
	case p.ExecutorCommand != "":
		agent, s.model = "command", p.Model
	case p.AgentCommand != "":
		agent = cmp.Or(agent, "command")
	}
	s.executor, s.command = evalrun.AgentOf(agent), s.absolute(p.WorkerCommand())
	return s
}

// runner makes ready what works in a directory: isolated where this machine can, so that of
// the user's home it sees what commands name, and of what is hidden nothing.
func (s *suiteSetup) runner(ctx context.Context, dir string, hidden ...string) (r evalrun.Runner, err error) {
	p := s.program
	r = evalrun.Runner{
		Model: s.model, Command: s.command, Env: p.Env, Jobs: p.Jobs, RunDir: dir, Now: s.Now,
		Masker: process.NewMasker(s.Environ), Progress: s.tell,
	}
	if s.commands, s.notes, err = s.isolated(ctx, dir, hidden, r.Command, p.Start); err != nil {
		return r, err
	}
	r.Sandboxes = &sandbox.Maker{
		Runner: s.commands, Environ: s.CommandEnviron, Remove: files.RemoveAll, Offline: !p.Network,
	}
	r.Grader, r.NoGrader, err = s.judge(dir)
	return r, err
}

// isolated runs commands in a directory.
func (s *suiteSetup) isolated(ctx context.Context, dir string, hidden []string, commands ...string,
) (runner *process.Runner, notes string, err error) {
	var named []string
	for _, command := range commands {
		named = append(named, s.namedFiles(command)...)
	}
	runner = s.NewRunner()
	runner.Isolation, notes, err = s.isolate(ctx, s.program, runner, dir, hidden, named)
	return runner, notes, err
}

// config is where agents keep the configuration of a project: what the target matches,
// and the usual files besides, such as a CLAUDE.md that points to the target's AGENTS.md.
func (s *suiteSetup) config() sandbox.Config {
	config := evalrun.AgentConfig()
	config.Include = append(config.Include, program.Texts(s.program.Targets)...)
	return config
}

// absolute is a command with the files of the checkout that it names as absolute paths. A
// file of the configuration stays as it is named, since every sandbox has its side's own.
func (s *suiteSetup) absolute(command string) string {
	config := s.config()
	return replaceWords(command, func(word string) string {
		file := filepath.Join(s.root, word)
		info, err := os.Stat(file)
		if err != nil || !info.Mode().IsRegular() || !filepath.IsLocal(word) ||
			s.program.Evaluation == program.Tasks && config.Match(path.Clean(word)) {
			return word
		}
		return file
	})
}

var (
	plainWord = lazyregexp.New(`[\w./-]+`)
	// plainOrQuoted is a plain word, or what is quoted as one.
	plainOrQuoted = lazyregexp.New(`(?s)\\.|"(?:\\.|[^"\\])*"|'[^']*'|[\w./-]+`)
)

// replaceWords replaces plain words of a shell command, quoted where they stand as what
// comes instead of them needs it.
func replaceWords(command string, by func(word string) string) string {
	return plainOrQuoted().ReplaceAllStringFunc(command, func(part string) string {
		return plainWord().ReplaceAllStringFunc(part, func(word string) string {
			replaced := process.QuoteWord(by(word))
			inner := strings.TrimSuffix(strings.TrimPrefix(replaced, "'"), "'")
			switch {
			case part[0] == '\'':
				return inner
			case part[0] == '"' && inner != replaced:
				return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(by(word))
			default:
				return replaced
			}
		})
	})
}

// worker finds an agent that can work on cases: the tuner only turns numbers.
func (s *suiteSetup) worker(ctx context.Context, name string, runner *process.Runner) (agent.Agent, error) {
	if name == (agent.Tuner{}).Name() {
		return nil, misuse.Errorf("the tuner works on no case; name who does with `executor`")
	}
	return s.ready(ctx, runner, name, agent.Request{Command: s.command, Dir: s.root})
}

// judge finds who grades, nil and why there is nobody. An agent that judges gets the
// variables of its own login and no others.
func (s *suiteSetup) judge(dir string) (judge.Grader, string, error) {
	home, asked := filepath.Join(dir, "judge"), commandline.All().Asked()
	variables, err := s.CommandEnviron(home, asked.Question.Variables)
	if err != nil {
		return nil, "", err
	}
	variables = append(variables, asked.Question.Env(s.Getenv)...)
	chosen, none, err := judge.Choose(judge.Setting{
		Mode: s.program.Judge, Model: s.program.JudgeModel, Getenv: s.Getenv, Complete: s.Complete,
		Price: agent.Price, Masker: process.NewMasker(s.Environ),
		Agent: asked, Runner: s.NewRunner(), Dir: home, Env: variables,
	})
	return chosen, none, misuse.New(err)
}

// describe says who works on the cases, and who grades them; nil grades nothing.
func (s *suiteSetup) describe(ctx context.Context, worker agent.Agent, judge judge.Grader) (*history.Executor, error) {
	found := &history.Executor{Agent: worker.Name(), Model: s.model}
	if judge != nil {
		found.Judge = judge.Name()
		if asked, is := judge.(interface{ Agent() string }); is && asked.Agent() != "" {
			by, err := s.registry(s.NewRunner()).Lookup(asked.Agent())
			if installed, is := by.(agent.Installed); err == nil && is {
				found.JudgeVersion, _ = installed.Version(ctx) // "" when it does not say
			}
		}
	}
	if worker.Name() == "command" {
		found.Command, found.CommandSHA256 = process.NewMasker(s.Environ).String(s.command), s.commandDigest(s.command)
	}
	if program, outside := worker.(agent.Installed); outside {
		version, err := program.Version(ctx)
		if err != nil {
			return nil, fmt.Errorf("ask agent %s for its version: %w", worker.Name(), err)
		}
		found.Version = version
	}
	return found, nil
}

// commandDigest identifies the content of the files that an agent's command names.
func (a *App) commandDigest(text string) string {
	sum := sha256.New()
	for _, name := range a.namedFiles(text) {
		if file, err := os.Open(name); err == nil {
			const most = 64 << 20
			size, _ := io.Copy(sum, io.LimitReader(file, most))
			fmt.Fprintf(sum, "%q %d\n", name, size)
			_ = file.Close()
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// budgetOf are the bounds of a run: those of the program without a span, which are for one.
func budgetOf(p *program.Program) evalrun.Budget {
	budget := evalrun.Budget{UnknownCostPauses: p.UnknownCost == "pause"}
	for _, given := range p.Budgets {
		budget.Tokens, budget.Time = given.Tokens, time.Duration(given.Minutes*float64(time.Minute))
		if usd, err := metric.FromFloat(given.USD); err == nil && usd.Sign() > 0 {
			budget.CostUSD = &usd
		}
	}
	return budget
}
