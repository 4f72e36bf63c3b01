package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"html/template"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/render/page"
	"github.com/org/autoloop/internal/suite"
	"github.com/org/autoloop/internal/suite/evalrun"
)

// suiteFlags are those of whatever runs a suite. Everything else that a program can say is in
// the file of --settings.
func (a *App) suiteFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&a.Agent, "agent", "",
		"who works, as 'iterate doctor' lists them\n(default: --agent-command, else AUTOLOOP_AGENT, else models in "+
			"Actions)")
	flags.StringVar(&a.AgentCommand, "agent-command", "", "the command of the agent `command`")
	flags.StringVar(&a.Model, "model", "", "the model that the agent uses")
	flags.StringVar(&a.Judge, "judge", "auto", "who grades: auto, api, cli or off")
	flags.StringVar(&a.Settings, "settings", "", "a program `FILE` whose keys say everything else; flags win")
	a.jsonFlag(cmd)
}

// settings reads what a suite of a kind is run with; without a file it is the defaults.
func (a *App) settings(kind program.EvaluationKind) (*program.Program, error) {
	if a.Settings == "" {
		return program.Settings("iterate", nil, kind), nil
	}
	data, err := os.ReadFile(a.Path(a.Settings))
	if err != nil {
		return nil, misuse.Errorf("--settings: %w", err)
	}
	p := program.Settings(a.Settings, data, kind)
	return p, misuse.New(p.Err())
}

// flagged returns the settings with the flags laid over them; needed is how many runs can show
// something.
func (a *App) flagged(cmd *cobra.Command, kind program.EvaluationKind, needed int) (*program.Program, error) {
	p, err := a.settings(kind)
	if err != nil {
		return nil, err
	}
	if a.Agent != "" || a.AgentCommand != "" {
		p.Agent = a.Agent
	}
	p.AgentCommand = cmp.Or(a.AgentCommand, p.AgentCommand)
	p.Model = cmp.Or(a.Model, p.Model)
	if cmd.Flags().Changed("judge") {
		p.Judge = a.Judge
	}
	if kind == program.Skill && p.Setup != "" && p.Start == "" {
		return nil, misuse.Errorf("%s: `setup` is of the server that `start` runs: give both", a.Settings)
	}
	runs := strconv.Itoa(p.Runs)
	if p.Runs == 0 {
		runs = "auto"
	}
	if flag := cmd.Flags().Lookup("runs"); flag.Changed {
		runs = flag.Value.String()
	}
	p.Runs, err = parseRuns(runs, needed)
	return p, err
}

// parseRuns reads how often something is run: 0 is auto. More than one, but fewer than are
// needed, show nothing.
func parseRuns(text string, needed int) (int, error) {
	const most = 1000
	if strings.EqualFold(text, "auto") {
		return 0, nil
	}
	runs, err := strconv.Atoi(text)
	if err != nil || runs < 1 || runs > most || runs > 1 && runs < needed {
		return 0, misuse.Errorf("--runs %q: give `auto`, 1, or a number from %d to %d: fewer can show nothing", text,
			needed, most)
	}
	return runs, nil
}

// isSkill tells a skill, or a server with questions, from a task suite.
func isSkill(dir string) bool {
	for _, name := range []string{evalrun.SkillFile, suite.AnswerFile} {
		if info, err := os.Lstat(filepath.Join(dir, name)); err == nil && !info.IsDir() {
			return true
		}
	}
	return false
}

// chooseAgent settles who works: the flag's or the settings' agent, a command that was
// given, the environment's agent, and in Actions a model; "" for nobody.
func (a *App) chooseAgent(p *program.Program) string {
	name := evalrun.AgentOf(p.Agent)
	if p.AgentCommand != "" {
		name = cmp.Or(name, "command")
	}
	if name = cmp.Or(name, a.Getenv("AUTOLOOP_AGENT")); name == "" && a.InActions() {
		name = "models"
	}
	return name
}

// nobody is the error of a suite that nobody works on.
func nobody(role string) error {
	return misuse.Errorf("say %s with --agent, or give a command with --agent-command; `iterate doctor` says who is "+
		"ready", role)
}

// isSuite reports whether a word of the command line is the directory of a skill, of its
// workspace or of a task suite: it is a directory, and no program has that name.
func (a *App) isSuite(ctx context.Context, word string) bool {
	if info, err := os.Stat(a.Path(word)); err != nil || !info.IsDir() {
		return false
	}
	if err := a.look(ctx); err != nil {
		return true
	}
	p, err := a.findProgram(word)
	return err == nil && p == nil
}

// readSuite says why the suite of a program cannot be read, and protects what the cases of a
// skill are given.
func (a *App) readSuite(ctx context.Context, p *program.Program) (err error) {
	switch p.Evaluation {
	case program.Skill:
		var skill *evalrun.Skill
		if skill, err = evalrun.Load(a.Checkout, p.Skill, p.Evals); err == nil {
			var inputs []string
			for _, c := range skill.Cases {
				for _, file := range c.Files {
					inputs = append(inputs, path.Join(p.Skill, file.From))
				}
			}
			p.ProtectInputs(inputs)
		}
	case program.Tasks:
		dir := a.inCheckout(p.Tasks)
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return misuse.Errorf("there is no directory %s, which `tasks` names: write its path from the root of the "+
				"repository", p.Tasks)
		}
		_, err = evalrun.LoadTasks(ctx, dir)
	case program.Metric:
	}
	if mistake, is := errors.AsType[*misuse.Error](err); is {
		return mistake
	}
	return nil // what else is wrong shows where it is measured
}

// writeReport writes a report as one HTML file and says where it is.
func (a *App) writeReport(out, title, body string) error {
	var b bytes.Buffer
	shown := page.View{Site: &page.Site{Generated: a.Now()}, Title: title}
	shown.Body = template.HTML(body) //nolint:gosec // render made it
	if err := shown.Write(&b); err != nil {
		return err
	}
	file := a.Path(out)
	if err := files.WriteFile(file, b.Bytes(), 0o644); err != nil {
		return err
	}
	fmt.Fprintln(a.Stderr, "page:", file)
	return nil
}
