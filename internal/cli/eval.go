package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/skill"
	"github.com/org/autoloop/internal/suite"
	"github.com/org/autoloop/internal/suite/evalrun"
)

// evalOptions are the flags of `iterate eval`.
type evalOptions struct {
	against, candidate, out string
	fresh                   bool
}

func (a *App) newEvalCommand() *cobra.Command {
	var o evalOptions
	cmd := &cobra.Command{
		Use:   "eval [PATH]",
		Short: "Run the suite of a skill or of tasks, and print the score",
		Long: `Of a skill, every case is run in a sandbox of its own and graded; trigger queries and questions with
exact answers are figures of their own. The skill is not changed.

Of a task suite, every task is run with a configuration of an agent (AGENTS.md, .claude/, …), with
--against with two; the exit code is 1 when --candidate is worse. Where a model works or judges, each
task is run five times a side. Interrupted, the same command goes on where it was. Without PATH it is
the key "tasks" of --settings.`,
		Example: "  iterate eval skills/release-notes --agent claude\n" +
			"  iterate eval tasks --against origin/main --agent claude --out report\n" +
			"  iterate eval tasks --against old/ --candidate new/ --agent-command \"sh agent.sh\"",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			_ = a.openRepo(cmd.Context()) // where there is one
			if len(args) == 0 {
				p, err := a.settings(program.Tasks)
				if err != nil {
					return err
				}
				if p.Tasks == "" {
					return misuse.Errorf(
						"name a skill or a task suite, or give --settings with a program that has `tasks`",
					)
				}
				root := a.Dir
				if a.Repo != nil {
					root = a.Checkout
				}
				args = []string{filepath.Join(root, p.Tasks)}
			}
			run, kind := a.evalTasks, program.Tasks
			if isSkill(a.Path(args[0])) {
				if err := onlyFor("task suites, and "+args[0]+" is a skill", cmd, "against", "candidate", "runs",
					"budget-usd", "fresh"); err != nil {
					return err
				}
				run, kind = a.evalSkill, program.Skill
			}
			const needed = 2
			p, err := a.flagged(cmd, kind, needed)
			if err != nil {
				return err
			}
			return run(cmd.Context(), args[0], p, &o)
		},
	}
	flags := cmd.Flags()
	a.suiteFlags(cmd)
	a.repoDirFlag(cmd)
	flags.StringVar(&o.against, "against", "", "compare with this configuration: a `DIR` or a commit")
	flags.StringVar(&o.candidate, "candidate", ".", "the configuration of the tasks: a `DIR` or a commit")
	flags.String("runs", "auto", "how often each task is run a side, or auto")
	a.budgetFlag(cmd, "begin no further run when it has cost `USD`")
	flags.BoolVar(&o.fresh, "fresh", false, "run everything again, also what is kept")
	flags.StringVar(&o.out, "out", "", "write reports, transcripts, outputs and gradings to this `DIR`")
	return cmd
}

// evalSkill runs a skill's suites.
func (a *App) evalSkill(ctx context.Context, dir string, p *program.Program, o *evalOptions) error {
	if a.Agent != "" || a.AgentCommand != "" {
		p.Executor, p.ExecutorCommand = "", ""
	}
	suited, err := evalrun.Load(a.Path(dir), ".", "")
	if err != nil {
		return err
	}
	worker := a.chooseAgent(p)
	if worker == "" && p.Executor == "" && p.ExecutorCommand == "" {
		return nobody("who works on the cases")
	}
	run, err := a.newRunDir(a.TempDir())
	if err != nil {
		return err
	}
	keep := filepath.Join(run, "out") // what the cases leave, as long as it runs
	if o.out != "" {
		keep = a.Path(o.out)
		if _, err := os.Lstat(keep); err == nil {
			return misuse.Errorf("--out %s exists already; name a new directory", o.out)
		}
		if _, is := files.Below(suited.Dir, keep); is {
			return misuse.Errorf("--out %s is in the skill, which is never edited; name a directory elsewhere", o.out)
		}
	}
	setup := a.suiteSetup(p, a.Dir, worker, "")
	options, err := setup.evals(ctx, run, keep, filepath.Join(suited.Dir, suite.EvalsDir))
	fmt.Fprint(a.Stderr, setup.notes)
	if err != nil {
		return err
	}
	options.Setup = p.Setup
	found, err := skill.Evaluate(ctx, suited, keep, options)
	if err != nil {
		return err
	}
	return a.print(found, found)
}

// evalTasks runs a task suite for one configuration, or for two.
func (a *App) evalTasks(ctx context.Context, dir string, p *program.Program, o *evalOptions) error {
	l := &taskSuite{
		suiteSetup: a.suiteSetup(p, a.Dir, a.chooseAgent(p), ""), fresh: o.fresh, override: a.Agent != "",
	}
	session, err := l.open(ctx, a.Path(dir))
	defer session.close()
	if err != nil {
		return err
	}
	var sides []evalrun.Side
	for _, side := range [][2]string{{"against", o.against}, {"candidate", o.candidate}} {
		if side[1] == "" {
			continue
		}
		found, err := session.findSide(ctx, side[0], side[1])
		if err != nil {
			return err
		}
		sides = append(sides, found)
	}
	fmt.Fprint(a.Stderr, session.notes)
	shown := newProgress(a.Env)
	session.options.Progress = shown.Begin
	found, err := evalrun.RunTasks(ctx, session.suite, session.options, sides...)
	shown.Close()
	if err != nil {
		return err
	}
	if o.against == "" {
		a.warn(found.Warnings...)
		return a.print(found.Baseline, evalrun.Alone(found.Baseline))
	}
	html := ""
	if o.out != "" {
		if found, err = evalrun.WriteReport(a.Path(o.out), found); err != nil {
			return err
		}
		html = filepath.Join(o.out, "report.html")
	}
	if a.JSON {
		a.warn(found.Warnings...)
	}
	return a.deliverComparison(found, found, html, o.out, false)
}
