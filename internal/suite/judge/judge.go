// Package judge asks a model how well a task was done, by API or through the
// command line of an agent. A judge is a help and never a gate of its own: what it
// does not answer properly is dropped and said.
package judge

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/org/autoloop/internal/agent/commandline"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/suite"
	"github.com/org/autoloop/internal/suite/tasks"
)

// Work is what an agent did, as a judge sees it. All of it is data from others.
type Work struct {
	// Title is a task's, Prompt what the agent was told.
	Title, Prompt string
	// Criteria are a task's rubric: the answer is one score.
	Criteria string
	// Expectations, of a case of an eval suite, are judged one by one; Expected
	// describes a good result, "" for nothing.
	Expectations []string
	Expected     string
	// Diff is what the agent changed, Words what it said last, Failure why it failed, or
	// "", and Checks what was found of a task.
	Diff, Words, Failure string
	Checks               []tasks.CheckResult
	// Transcript is the conversation, Outputs the files that came of a case, as text.
	Transcript, Outputs string
}

// Opinion is what a judge said.
type Opinion struct {
	// Judgement is by criteria, nil without one; Expectations has one verdict for each
	// expectation, in their order, nil when there is none. Problem then says why, in one
	// line.
	Judgement    *tasks.Judgement
	Expectations []suite.Graded
	Problem      string
	// Feedback is on the suite itself, as JSON; nil for none.
	Feedback json.RawMessage
	// Usage is what asking cost: all tokens as those of the input, and dollars.
	Usage metric.Usage
}

// answer is what came back from a model.
type answer = commandline.Answer

// Grader says how well work was done.
type Grader interface {
	// Name tells graders apart whose verdicts cannot be compared.
	Name() string
	// Grade returns an opinion, also when there is no answer; an error means that ctx
	// ended.
	Grade(ctx context.Context, w Work) (Opinion, error)
}

// Judge asks a model. Its methods may be used by several goroutines at once.
type Judge struct {
	// name says who is asked, agent whose command line that is; "" for an API.
	name, agent string
	// room is how many bytes a question may have; 0 is unbounded.
	room   int
	ask    func(ctx context.Context, system, question string) (answer, error)
	masker process.Masker
}

const (
	// perCase bounds one case, both attempts together.
	perCase = 5 * time.Minute
	// maxProblem and maxRationale bound what is kept, in characters.
	maxProblem   = 300
	maxRationale = 1000
)

// Name says who judges: judgements under another name cannot be compared.
func (j *Judge) Name() string { return j.name }

// Agent is the agent whose command line is asked; "" for an API.
func (j *Judge) Agent() string { return j.agent }

// Grade asks about a piece of work, and once more when the answer cannot be used. The
// error is for the end of ctx alone.
func (j *Judge) Grade(ctx context.Context, w Work) (Opinion, error) {
	limited, cancel := context.WithTimeout(ctx, perCase)
	defer cancel()
	prompt, text, repeat, read := system, question(w, j.room), again, j.readScore
	silence := "the judge %s did not answer: %w"
	if len(w.Expectations) > 0 {
		prompt, text, repeat, read = gradeSystem, gradeQuestion(w, j.room), gradeAgain, j.readVerdicts
		silence = "the grader %s did not answer (is its key or login right?): %w"
	}
	found := Opinion{Usage: metric.Usage{InputTokens: new(int64), CostUSD: new(metric.Value)}}
	var problem error
	for range 2 {
		said, err := j.ask(limited, prompt, text)
		found.Usage = found.Usage.Add(metric.Usage{InputTokens: said.Tokens, CostUSD: said.USD})
		if err != nil {
			problem = fmt.Errorf(silence, j.name, err)
			break
		}
		if err = read(w, said, &found); err == nil {
			return found, context.Cause(ctx)
		}
		problem = fmt.Errorf("the judge's answer cannot be used: %w", err)
		text += fmt.Sprintf(repeat, plain.Short(err.Error(), maxProblem))
	}
	if ctx.Err() != nil {
		return Opinion{}, context.Cause(ctx)
	}
	found.Problem = j.masker.OneLine(problem.Error(), maxProblem)
	return found, nil
}

// readScore reads an answer with a score.
func (j *Judge) readScore(_ Work, said answer, into *Opinion) error {
	grade, rationale, err := parse(said.Text)
	if err == nil {
		into.Judgement = &tasks.Judgement{
			Score: grade, Model: said.Model,
			Rationale: j.masker.OneLine(rationale, maxRationale),
		}
	}
	return err
}
