package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/suite/evalrun"
)

// validatedSuite is `iterate validate DIR --json` of a task suite.
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

func (a *App) validateTasks(ctx context.Context, dir string) error {
	found := validatedSuite{Errors: []string{}, Tasks: []validatedTask{}}
	loaded, err := evalrun.LoadTasks(ctx, a.Path(dir))
	if _, wrong := errors.AsType[*misuse.Error](err); wrong {
		found.Errors, loaded = strings.Split(err.Error(), "\n"), &evalrun.TaskSuite{}
	} else if err != nil {
		return err
	}
	table, registry := render.Table{
		Header: []string{"task", "checks", "judge", "time", "title"},
		Align:  "lrlr",
	}, a.registry(a.NewRunner())
	for _, task := range loaded.Tasks {
		if task.Agent != "" {
			if _, err := registry.Lookup(evalrun.AgentOf(task.Agent)); err != nil {
				found.Errors = append(found.Errors, fmt.Sprintf("%s: agent: %v", task.File, err))
			}
		}
		found.Tasks = append(found.Tasks, validatedTask{
			ID: task.ID, Title: task.Title, File: task.File, Fixture: task.Fixture, Agent: text(task.Agent),
			Checks: len(task.Checks), Judged: task.Rubric != nil, TimeoutMs: task.Timeout.Milliseconds(),
		})
		judged := "—"
		if task.Rubric != nil {
			judged = "yes"
		}
		table.Rows = append(table.Rows, []string{
			task.ID, fmt.Sprint(len(task.Checks)), judged, fmt.Sprint(task.Timeout.Seconds(), "s"),
			plain.Short(task.Title, liveWidth),
		})
	}
	if len(found.Errors) > 0 {
		found.Tasks = found.Tasks[:0]
		return verdict(a.print(found, "error: "+strings.Join(found.Errors, "\nerror: ")+"\n"), true)
	}
	found.OK = true
	return a.print(found, fmt.Sprintf("%s\n%s: ok\n", table, render.Count(len(found.Tasks), "task", "tasks")))
}

// text is a string for JSON, null for an empty one.
func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
