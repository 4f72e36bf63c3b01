package agent

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"time"

	"github.com/org/autoloop/internal/agent/models"
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
func (m *Models) Missing(Situation) string { return m.Lacks }

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
	defer func() { _ = root.Close() }()
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
