package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/org/autoloop/internal/agent/models"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/process"
)

// Complete asks a model at an endpoint. Its errors are *models.Error, or the context's.
type Complete func(context.Context, models.Endpoint, models.Request) (models.Response, error)

// Models is the agent that needs no program but ours: it sends the prompt and
// the target files to a model, and makes the edits that the answer names. When
// an edit does not fit, the model is told why and answers once more; nothing is
// changed unless all of them fit.
type Models struct {
	// Complete asks a model; its errors are *models.Error, or the context's.
	Complete Complete
	// Endpoint is where it is asked; Lacks says why it cannot be asked, "" when
	// there is.
	Endpoint models.Endpoint
	Lacks    string
	// Now tells the time at which a rate limit ends.
	Now    func() time.Time
	Masker process.Masker
}

// Name is "models".
func (*Models) Name() string { return "models" }

// Project says that its transcript is the whole conversation.
func (*Models) Project() Project { return Project{Skills: defaultSkills, Printed: Markdown} }

// Missing says that there is no endpoint, or no target file to show.
func (m *Models) Missing(Request) string { return m.Lacks }

// PromptRoom is how many bytes of prompt leave room for files, 0 for any number.
func (m *Models) PromptRoom() int { return m.Endpoint.InputTokens * bytesPerToken / 3 }

// Propose asks for edits and makes them.
func (m *Models) Propose(ctx context.Context, request Request) (Reply, error) {
	if m.Lacks != "" {
		return Reply{Failure: &Failure{Kind: Unavailable, Message: m.Lacks}}, nil
	}
	root, err := os.OpenRoot(request.Dir)
	if err != nil {
		return Reply{}, fmt.Errorf("open the tree: %w", err)
	}
	defer root.Close()
	start := time.Now()
	bounded, cancel := context.WithTimeout(ctx, cmp.Or(request.Timeout, longestTalk))
	defer cancel()
	talk := &talk{Models: m, request: request, root: root}
	reply, err := talk.propose(bounded)
	switch {
	case ctx.Err() != nil:
		return Reply{Usage: talk.used(), Secrets: m.Masker}, context.Cause(ctx)
	case err != nil:
		return Reply{}, err
	}
	reply.Usage, reply.Duration = talk.used(), time.Since(start)
	reply.Secrets = m.Masker
	return reply, reply.keepTranscript(request.Transcript, m.Masker.Bytes([]byte(talk.transcript.String())))
}

// longestTalk bounds a proposal whose request does not.
const longestTalk = time.Hour

// failure sorts what went wrong with a request into the kinds of an agent.
func (m *Models) failure(failed *models.Error) *Failure {
	f := &Failure{
		Kind:    cmp.Or(failureKinds[failed.Kind], Crashed),
		Message: m.Masker.OneLine(failed.Message, maxMessage),
	}
	if f.Kind == RateLimit && failed.RetryAfter > 0 {
		f.RetryAt = new(m.Now().Add(failed.RetryAfter))
	}
	if failed.Kind == models.TooLarge {
		f.Message += "; the prompt alone is too much for this model: name another with `model:`, or shorten the program"
	}
	return f
}

// failureKinds has those that are more than a crash.
var failureKinds = map[models.ErrorKind]FailureKind{
	models.Authentication: Authentication, models.RateLimit: RateLimit, models.Budget: Budget,
	models.Timeout: Timeout, models.Invalid: Unavailable,
}

// modelsRules tell the model how to answer.
const modelsRules = `You improve a program by editing its files. You are given a task and the present files; you have no tools.
Answer with one line that gives the plan of your change, and with edits in exactly this form, without code fences around them.

` + planMark + ` what you change and why it should help, in one line

To replace lines of a file, quote them exactly as they are, with enough lines around them that they occur only once:

` + fileMark + ` path/to/file
` + searchMark + `
the lines as they are now
` + betweenMark + `
the lines that take their place
` + replaceMark + `

To give a new file, or a short file anew, give the whole of it:

` + fileMark + ` path/to/new/file
` + wholeMark + `
all its lines
` + wholeEnd + `

Any number of edits may follow each other; those of one file are made in order. Edit only files that the task lets change.`

// talk is one conversation with a model.
type talk struct {
	*Models
	request    Request
	root       *os.Root
	usage      metric.Usage
	turns      int64
	model      string // as the server named it last, else as it was asked for
	transcript strings.Builder
}

// propose holds the conversation: one answer, and a second one when the first
// does not fit. The error is our own machinery's.
func (t *talk) propose(ctx context.Context) (Reply, error) {
	messages, said, err := t.first(ctx)
	for round := 1; err == nil; round++ {
		a := readAnswer(said.Text)
		reply := Reply{Summary: t.Masker.OneLine(a.plan, MaxSummary)}
		written, problems := t.check(a, said.Stop)
		switch {
		case len(problems) == 0:
			return reply, t.write(written)
		case round == 2 && said.Text != "" && len(a.edits)+len(a.problems) == 0 && said.Stop == models.Ended:
			return reply, nil // it stays with changing nothing
		case round == 2:
			reply.Failure = t.misfit(Crashed, "in a second answer either", problems[0])
			return reply, nil
		}
		if exceeded(t.request.Limit, t.model, t.used()) {
			reply.Failure = t.misfit(Budget, "and its limit leaves no second answer", problems[0])
			return reply, nil
		}
		if said.Text != "" {
			messages = append(messages, models.Message{Role: models.Assistant, Text: said.Text})
		}
		messages = append(messages, models.Message{Role: models.User, Text: repair(problems)})
		said, err = t.ask(ctx, messages)
	}
	if failed, is := errors.AsType[*models.Error](err); is {
		return Reply{Failure: t.failure(failed)}, nil
	}
	return Reply{}, err
}

// misfit is the failure of an answer whose edits do not fit.
func (t *talk) misfit(kind FailureKind, how, problem string) *Failure {
	return &Failure{
		Kind: kind, Message: "its edits do not fit, " + how + ": " + t.Masker.OneLine(problem, MaxSummary),
	}
}

// first asks with as many of the files as the model takes.
func (t *talk) first(ctx context.Context) ([]models.Message, models.Response, error) {
	room := maxShown
	if most := t.Endpoint.InputTokens; most > 0 {
		room = min(max(most*bytesPerToken-len(modelsRules)-len(t.request.Prompt), 0), room)
	}
	for {
		files, shown := t.show(room)
		messages := []models.Message{
			{Role: models.System, Text: modelsRules, Repeats: true},
			{Role: models.User, Text: t.request.Prompt},
			{Role: models.User, Text: files},
		}
		said, err := t.ask(ctx, messages)
		var failed *models.Error
		if !errors.As(err, &failed) || failed.Kind != models.TooLarge || shown == 0 {
			return messages, said, err
		}
		room = min(room, shown) / 2
	}
}

// ask sends messages and notes what was said and used.
func (t *talk) ask(ctx context.Context, messages []models.Message) (models.Response, error) {
	said, err := t.Complete(ctx, t.Endpoint,
		models.Request{Model: t.request.Model, Messages: messages, MaxTokens: t.longest()})
	for _, message := range messages[max(len(messages)-2, 0):] {
		t.note(string(message.Role), message.Text)
	}
	if err != nil {
		t.note("error", err.Error())
		return said, err
	}
	t.note("answer", said.Text)
	t.model = cmp.Or(said.Model, t.request.Model, t.Endpoint.Model)
	if t.turns++; t.turns == 1 {
		t.usage = said.Usage
	} else {
		t.usage = t.usage.Add(said.Usage)
	}
	return said, nil
}

// smallAnswer is what every model may answer with, in tokens.
const smallAnswer = 4096

// longest bounds an answer to what the limit leaves, when that is less than what
// the model may answer with; else it is 0.
func (t *talk) longest() int {
	if t.request.Limit.Tokens == 0 {
		return 0
	}
	left := t.request.Limit.Tokens
	if used := t.usage.Tokens(); used != nil {
		left -= *used
	}
	if left >= int64(cmp.Or(t.Endpoint.OutputTokens, smallAnswer)) {
		return 0
	}
	return max(int(left), 1)
}

// repair says what is wrong with an answer.
func repair(problems []string) string {
	const most = 20
	return "None of your edits was made, because these do not fit:\n\n- " +
		strings.Join(problems[:min(len(problems), most)], "\n- ") +
		"\n\nThe files are as they were shown. Give the whole answer again, with all edits, in the form described.\n"
}

// used is what the conversation consumed.
func (t *talk) used() metric.Usage {
	if t.turns == 0 {
		return metric.Usage{}
	}
	usage := t.usage
	usage.Turns, usage.CostUSD = new(t.turns), Price(t.model, usage)
	return usage
}

func (t *talk) note(title, text string) { fmt.Fprintf(&t.transcript, "## %s\n\n%s\n\n", title, text) }
