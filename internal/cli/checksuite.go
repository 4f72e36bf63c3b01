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

// checkedSuite is `iterate validate DIR --json` of a suite in either format: what it has, or
// what is wrong with it.
type checkedSuite struct {
	OK     bool     `json:"ok"`
	Errors []string `json:"errors"`
	*checkedSkill
	// Tasks are those of a task suite.
	Tasks []checkedTask `json:"tasks,omitzero"`
}

// checkedSkill is what the suites of a skill have.
type checkedSkill struct {
	Name     string        `json:"name"`
	Cases    []checkedCase `json:"cases"`
	Triggers int           `json:"triggers"`
	Answers  int           `json:"answers"`
}

type checkedCase struct {
	ID           string `json:"id"`
	Expectations int    `json:"expectations"`
	Checks       int    `json:"deterministic_checks"`
	Files        int    `json:"files"`
}

type checkedTask struct {
	ID        string  `json:"id"`
	Title     string  `json:"title"`
	File      string  `json:"file"`
	Fixture   string  `json:"fixture"`
	Agent     *string `json:"agent"`
	Checks    int     `json:"checks"`
	Judged    bool    `json:"judged"`
	TimeoutMs int64   `json:"timeoutMs"`
}

// validateSuite checks the suite in a directory.
func (a *App) validateSuite(ctx context.Context, dir string) error {
	found, text, err := a.checkSuite(ctx, a.Path(dir))
	if err != nil {
		return err
	}
	return verdict(a.print(found, text), !found.OK)
}

// checkSuite checks the suite of a skill or of tasks; text is for people.
func (a *App) checkSuite(ctx context.Context, dir string) (found checkedSuite, text string, err error) {
	found.Errors = []string{}
	if isSkill(dir) {
		found.checkedSkill = &checkedSkill{Cases: []checkedCase{}}
		text, err = found.read(dir)
	} else {
		found.Tasks, text, err = a.checkTasks(ctx, dir)
	}
	if misuse.Is(err) {
		found.Errors = strings.Split(err.Error(), "\n")
		return found, "error: " + strings.Join(found.Errors, "\nerror: ") + "\n", nil
	}
	found.OK = err == nil
	return found, text, err
}

// read reads the suites of a skill, and says of every case what it is held against.
func (s *checkedSkill) read(dir string) (text string, err error) {
	suite, err := evalrun.Load(dir, ".", "")
	if err != nil {
		return "", err
	}
	for _, c := range suite.Cases {
		s.Cases = append(s.Cases, checkedCase{c.ID, len(c.Expectations), len(c.Checks), len(c.Files)})
		text += fmt.Sprintf("case %s: %s, %s, %s\n", c.ID, render.Count(len(c.Expectations), "expectation"),
			render.Count(len(c.Checks), "deterministic check"), render.Count(len(c.Files), "file"))
	}
	if s.Triggers = len(suite.Triggers); s.Triggers > 0 {
		text += "triggers: " + render.Count(s.Triggers, "query", "queries") + "\n"
	}
	if suite.AnswerSuite() != nil { // else they are the cases
		s.Answers = len(suite.Answers)
		text += "answers: " + render.Count(s.Answers, "question") + "\n"
	}
	s.Name = suite.Name
	return text + s.Name + ": ok\n", nil
}

// checkTasks reads a task suite, and says of every task what it is held against. With an error
// there are no tasks.
func (a *App) checkTasks(ctx context.Context, dir string) (list []checkedTask, text string, err error) {
	suite, err := evalrun.LoadTasks(ctx, dir)
	if err != nil {
		return []checkedTask{}, "", err
	}
	known, problems := a.registry(a.NewRunner()), []error{}
	for _, task := range suite.Tasks {
		one := checkedTask{
			ID: task.ID, Title: task.Title, File: task.File, Fixture: task.Fixture, Checks: len(task.Checks),
			Judged: task.Rubric != nil, TimeoutMs: task.Timeout.Milliseconds(),
		}
		if task.Agent != "" {
			one.Agent = &task.Agent
			if _, err := known.Lookup(evalrun.AgentOf(task.Agent)); err != nil {
				problems = append(problems, fmt.Errorf("%s: agent: %w", task.File, err))
			}
		}
		judged := ""
		if one.Judged {
			judged = ", a judge"
		}
		list = append(list, one)
		text += fmt.Sprintf("task %s: %s%s, %vs: %s\n", task.ID, render.Count(one.Checks, "check"), judged,
			task.Timeout.Seconds(), plain.Short(task.Title, liveWidth))
	}
	if len(problems) > 0 {
		return []checkedTask{}, "", misuse.New(errors.Join(problems...))
	}
	return list, text + render.Count(len(list), "task") + ": ok\n", nil
}
