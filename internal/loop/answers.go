package loop

import (
	"context"
	"time"

	"github.com/org/autoloop/internal/github/commands"
	"github.com/org/autoloop/internal/history"
)

// answering is how long a run may take to post what it recorded. Two runs that hold no lease,
// since the program rests, may record and answer at the same time.
const answering = 2 * time.Minute

// answer posts the recorded answers: those of this run, and those that an earlier
// run could not post. One that is posted already is found and not posted again; one that
// another run may be posting now is left to a later run.
func (r *thread) answer(ctx context.Context) {
	if r.GitHub == nil {
		return
	}
	since := r.before
	if text := r.records.sum.HeardSince; text != "" {
		since, _ = time.Parse(time.RFC3339, text)
	}
	r.unanswered = 0
	for _, e := range history.Of[*history.Answered](r.records.log.Events) {
		if e.Time.Before(since) || r.answered[e.Key] {
			continue
		}
		to, ok := commands.ParseAnswer(e.Key)
		if !ok {
			continue
		}
		if e.Run != r.id && e.Time.After(r.begun.Add(-answering)) {
			r.unanswered++
			continue
		}
		if err := r.GitHub.Answer(ctx, to, e.Reason); err != nil {
			r.unanswered++
			r.warn("a comment was not answered: %v", err)
			continue
		}
		if r.answered == nil {
			r.answered = map[string]bool{}
		}
		r.answered[e.Key] = true
	}
}
