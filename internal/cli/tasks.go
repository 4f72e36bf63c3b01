package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/app"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/tasks/taskrun"
)

func newTasksCommand(env Env, o *iterateOptions) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "tasks",
		Short: "Run a suite of tasks for two configurations of an agent, and compare them",
		Long: "A task suite is a directory of tasks for coding agents, each with a prompt, a fixture and checks.\n" +
			"`iterate tasks eval` runs it with two configurations (AGENTS.md, CLAUDE.md, .claude/, …) and tells\n" +
			"whether one is better than the other. docs/reference/task-suites.md has the format and the rules.",
		Example: "  iterate tasks validate .autoloop/tasks\n  iterate tasks eval --suite .autoloop/tasks --agent claude",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newTasksValidateCommand(env), newTasksCompareCommand(env, o))
	return cmd
}

func newTasksValidateCommand(env Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "validate DIR",
		Short: "Check a task suite",
		Long: "Check the tasks in a directory and below it, with their fixtures, and list them. Nothing is run.\n" +
			"The exit code is 1 when anything is wrong; all of it is said at once.",
		Example: "  iterate tasks validate .autoloop/tasks",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return validateTasks(cmd.Context(), env, args[0], asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return cmd
}

// validatedSuite is `iterate tasks validate --json`.
type validatedSuite struct {
	OK     bool            `json:"ok"`
	Errors []string        `json:"errors"`
	Tasks  []validatedTask `json:"tasks"`
}

type validatedTask struct {
	ID        string  `json:"id"`
	Title     string  `json:"title"`
	File      string  `json:"file"`
	Fixture   string  `json:"fixture"`
	Agent     *string `json:"agent"`
	Checks    int     `json:"checks"`
	Judged    bool    `json:"judged"`
	TimeoutMs int64   `json:"timeoutMs"`
}

func validateTasks(ctx context.Context, env Env, dir string, asJSON bool) error {
	loaded, err := taskrun.Load(ctx, env.Path(dir))
	var wrong *misuse.Error
	if err != nil && !errors.As(err, &wrong) {
		return err
	}
	if wrong == nil {
		wrong = unknownAgents(env, loaded)
	}
	found := validatedSuite{OK: wrong == nil, Errors: []string{}, Tasks: []validatedTask{}}
	if wrong != nil {
		found.Errors = strings.Split(wrong.Error(), "\n")
	} else {
		for _, task := range loaded.Tasks {
			found.Tasks = append(found.Tasks, validatedTask{
				ID: task.ID, Title: task.Title, File: task.File, Fixture: task.Fixture, Agent: text(task.Agent),
				Checks: len(task.Checks), Judged: task.Rubric != nil, TimeoutMs: task.Timeout.Milliseconds(),
			})
		}
	}
	return verdict(printSuite(env, found, asJSON), !found.OK)
}

// unknownAgents lists the tasks that name an agent which is not known; nil when
// all are.
func unknownAgents(env Env, suite *taskrun.TaskSuite) *misuse.Error {
	registry := app.NewRegistry(env, env.NewRunner(), process.NewMasker(env.Environ))
	var faults []error
	for _, task := range suite.Tasks {
		if task.Agent == "" {
			continue
		}
		if _, err := registry.Lookup(taskrun.AgentOf(task.Agent)); err != nil {
			faults = append(faults, fmt.Errorf("%s: agent: %w", task.File, err))
		}
	}
	if len(faults) == 0 {
		return nil
	}
	return &misuse.Error{Err: errors.Join(faults...)}
}

func printSuite(env Env, found validatedSuite, asJSON bool) error {
	if asJSON {
		return printEscapedJSON(env, found)
	}
	for _, line := range found.Errors {
		fmt.Fprintln(env.Stdout, "error:", line)
	}
	if !found.OK {
		return nil
	}
	table := render.Table{Header: []string{"task", "checks", "judge", "time", "title"}, Right: map[int]bool{1: true, 3: true}}
	for _, task := range found.Tasks {
		judged := "—"
		if task.Judged {
			judged = "yes"
		}
		seconds := strconv.FormatFloat(float64(task.TimeoutMs)/1000, 'f', -1, 64) + "s"
		table.Rows = append(table.Rows, []string{task.ID, strconv.Itoa(task.Checks), judged, seconds, plain.Short(task.Title, liveWidth)})
	}
	_, err := fmt.Fprintf(env.Stdout, "%s\n%s: ok\n", table, render.Count(len(found.Tasks), "task", "tasks"))
	return err
}
