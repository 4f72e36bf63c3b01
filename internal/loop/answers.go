package loop

import (
	"context"
	"slices"
	"time"

	"github.com/org/autoloop/internal/github/commands"
	"github.com/org/autoloop/internal/history"
)

// answeredLine is in the lines of answers.
const answeredLine = `"event":"answered"`

// answer posts the recorded answers: those of this run, and those that an earlier
// run could not post. One that is posted already is found and not posted again.
func (r *thread) answer(ctx context.Context) {
	since := r.before
	if text := r.records.sum.Settings[history.HeardSince]; text != "" {
		since, _ = time.Parse(time.RFC3339, text)
	}
	r.unanswered = 0
	events, err := r.records.since(ctx, since, answeredLine, decidedLine)
	if err != nil {
		r.warn("comments were not answered: %v", err)
		return
	}
	for e := range history.Of[*history.Answered](slices.All(events)) {
		if e.Time.Before(since) || r.answered[e.Key] {
			continue
		}
		to, ok := commands.ParseAnswer(e.Key)
		if !ok {
			continue
		}
		if err := r.github.Answer(ctx, to, e.Reason); err != nil {
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
