// Package judge asks a model how well a task was done, by API or through the
// command line of an agent. A judge is a help and never a gate of its own: what it
// does not answer properly is dropped and said.
package judge

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/org/autoloop/internal/agent/commandline"
	"github.com/org/autoloop/internal/agent/models"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/suite/format"
)

// Case is one finished run, as the judge sees it. All of it is data from others.
type Case struct {
	Title, Prompt string
	// Criteria are the task's rubric.
	Criteria string
	// Diff is what the agent changed, Words what it said last, Failure why it
	// failed, or "".
	Diff, Words, Failure string
	Checks               []format.CheckResult
}

// Opinion is what a judge said about a run.
type Opinion struct {
	// Judgement is nil without a judgement; Problem then says why, in one line.
	Judgement *format.Judgement
	Problem   string
	// Tokens and USD are what asking cost; nil is unknown.
	Tokens *int64
	USD    *metric.Value
}

// answer is what came back from a model.
type answer = commandline.Answer

// asker puts one question to a model.
type asker interface {
	// name says who is asked.
	name() string
	// room is how many bytes a question may have; 0 is unbounded.
	room() int
	ask(ctx context.Context, system, question string) (answer, error)
}

// Judge asks a model. Its methods may be used by several goroutines at once.
type Judge struct {
	asker   asker
	masker  process.Masker
	timeout time.Duration
}

const (
	// perCase bounds one case, both attempts together.
	perCase = 5 * time.Minute
	// maxProblem and maxRationale bound what is kept, in characters.
	maxProblem   = 300
	maxRationale = 1000
)

// Name says who judges: judgements under another name cannot be compared.
func (j *Judge) Name() string { return j.asker.name() }

// Agent is the agent whose command line is asked; "" for an API.
func (j *Judge) Agent() string {
	if line, is := j.asker.(*CommandLine); is {
		return line.Agent.Name
	}
	return ""
}

// Judge asks about one run, and once more when the answer cannot be used. The
// error is for the end of ctx alone.
func (j *Judge) Judge(ctx context.Context, c Case) (Opinion, error) {
	limited, cancel := context.WithTimeout(ctx, j.timeout)
	defer cancel()
	text := question(c, j.asker.room())
	verdict, err := j.once(limited, text)
	if errors.Is(err, errUnusable) {
		first := verdict
		verdict, err = j.once(limited, text+fmt.Sprintf(again, first.Problem))
		verdict.add(first)
	}
	if ctx.Err() != nil {
		return Opinion{}, context.Cause(ctx)
	}
	if err != nil {
		verdict.Judgement = nil
		verdict.Problem = j.masker.OneLine(err.Error(), maxProblem)
	}
	return verdict, nil
}

// errUnusable is in the error of an answer that asking again may cure.
var errUnusable = errors.New("the judge's answer cannot be used")

func (j *Judge) once(ctx context.Context, text string) (Opinion, error) {
	said, err := j.asker.ask(ctx, system, text)
	verdict := Opinion{Tokens: said.Tokens, USD: said.USD}
	if err != nil {
		return verdict, fmt.Errorf("the judge %s did not answer: %w", j.Name(), err)
	}
	grade, rationale, err := parse(said.Text)
	if err != nil {
		verdict.Problem = err.Error()
		return verdict, fmt.Errorf("%w: %w", errUnusable, err)
	}
	verdict.Judgement = &format.Judgement{
		Score: metric.NumberOf(grade), Model: said.Model,
		Rationale: j.masker.OneLine(rationale, maxRationale),
	}
	return verdict, nil
}

// add counts what an earlier attempt cost.
func (v *Opinion) add(earlier Opinion) {
	if v.Tokens != nil && earlier.Tokens != nil {
		v.Tokens = new(*v.Tokens + *earlier.Tokens)
	} else {
		v.Tokens = nil
	}
	if v.USD != nil && earlier.USD != nil {
		v.USD = new(v.USD.Add(*earlier.USD))
	} else {
		v.USD = nil
	}
}

// Complete asks a model at an endpoint.
type Complete func(context.Context, models.Endpoint, models.Request) (models.Response, error)

// Price is what a model's work costs in dollars, nil when that is not known.
type Price func(model string, usage metric.Usage) *metric.Value

// API returns a judge that asks the endpoint's model. Without a price, which may
// be nil, nobody knows what it costs.
func API(complete Complete, endpoint models.Endpoint, price Price, masker process.Masker) *Judge {
	return &Judge{asker: &api{complete, endpoint, price}, masker: masker, timeout: perCase}
}

// CLI returns a judge that asks an agent through its command line.
func CLI(c CommandLine, masker process.Masker) *Judge {
	return &Judge{asker: &c, masker: masker, timeout: perCase}
}
