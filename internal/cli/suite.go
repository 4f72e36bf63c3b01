package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/setup"
	"github.com/org/autoloop/internal/suite/evalrun"
	"github.com/org/autoloop/internal/suite/evals"
	"github.com/org/autoloop/internal/suite/taskrun"
)

// suiteOptions are the flags of whatever runs a suite. Everything else that a program
// can say is in the file of --settings.
type suiteOptions struct {
	settings, agent, command, model, judge string
	json                                   bool
	flags                                  *pflag.FlagSet
}

func (o *suiteOptions) register(flags *pflag.FlagSet) {
	o.flags = flags
	flags.StringVar(&o.agent, "agent", "",
		"who works, as 'iterate doctor' lists them\n(default: --agent-command, else AUTOLOOP_AGENT, else models in "+
			"Actions)")
	flags.StringVar(&o.command, "agent-command", "", "the command of the agent `command`")
	flags.StringVar(&o.model, "model", "", "the model that the agent uses")
	flags.StringVar(&o.judge, "judge", "auto", "who grades: auto, api, cli or off")
	settingsFlag(flags, &o.settings)
	flags.BoolVar(&o.json, "json", false, "print a JSON object")
}

func settingsFlag(flags *pflag.FlagSet, to *string) {
	flags.StringVar(to, "settings", "", "a program `FILE` whose keys say everything else; flags win")
}

// settingsOf reads what a suite of a kind is run with; "" has the defaults.
func settingsOf(env Env, file string, kind program.EvaluationKind) (*program.Program, error) {
	if file == "" {
		return program.Settings("iterate", nil, kind), nil
	}
	data, err := os.ReadFile(env.Path(file))
	if err != nil {
		return nil, misuse.Errorf("--settings: %w", err)
	}
	p := program.Settings(file, append([]byte{}, data...), kind)
	if err := p.Err(); err != nil {
		return nil, misuse.New(err)
	}
	return p, nil
}

// read returns the settings with the flags laid over them.
func (o *suiteOptions) read(env Env, kind program.EvaluationKind) (*program.Program, error) {
	p, err := settingsOf(env, o.settings, kind)
	if err != nil {
		return nil, err
	}
	p.Agent = cmp.Or(o.agent, p.Agent)
	if o.command != "" {
		p.AgentCommand = o.command
		if o.agent == "" {
			p.Agent = ""
		}
	}
	p.Model = cmp.Or(o.model, p.Model)
	if o.flags.Changed("judge") {
		p.Judge = o.judge
	}
	if kind == program.Skill && p.Setup != "" && p.Start == "" {
		return nil, misuse.Errorf("%s: `setup` is of the server that `start` runs: give both", o.settings)
	}
	return p, nil
}

// isSkill tells a skill, or a server with questions, from a task suite.
func isSkill(dir string) bool {
	for _, name := range []string{evalrun.SkillFile, evals.AnswerFile} {
		if info, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name))); err == nil && !info.IsDir() {
			return true
		}
	}
	return false
}

// chooseAgent settles who works: the flag's or the settings' agent, a command that was
// given, the environment's agent, and in Actions a model; "" for nobody.
func chooseAgent(env Env, p *program.Program) string {
	switch {
	case p.Agent != "":
		return taskrun.AgentOf(p.Agent)
	case p.AgentCommand != "":
		return "command"
	case env.InActions():
		return cmp.Or(env.Getenv("AUTOLOOP_AGENT"), "models")
	default:
		return env.Getenv("AUTOLOOP_AGENT")
	}
}

// nobody is the error of a suite that nobody works on: it lists who could.
func nobody(ctx context.Context, env Env, role string) error {
	registry := newRegistry(env, env.NewRunner(), process.NewMasker(env.Environ))
	found, err := registry.Survey(ctx, agent.Situation{Env: env.Environ, Dir: env.Dir})
	if err != nil {
		return err
	}
	var ready []string
	for _, one := range found {
		if one.Missing == "" && !slices.Contains(setup.ProgramAgents, one.Name) {
			ready = append(ready, one.Name)
		}
	}
	return misuse.Errorf("say %s with --agent, or give a command with --agent-command; ready here: %s (`iterate "+
		"doctor` says what each lacks)",
		role, cmp.Or(strings.Join(ready, ", "), "none"))
}

// tellOn prints a line for people.
func tellOn(env Env) func(string) {
	return func(text string) { fmt.Fprintln(env.Stderr, text) }
}
