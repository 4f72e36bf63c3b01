package render

import (
	"slices"
	"strings"
	"time"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/plain"
)

const (
	// maxHistory is how many entries of the history the status has, folded.
	maxHistory = 10
	// maxLatest is how many iterations it shows at a glance, with so many characters of
	// what was changed.
	maxLatest, maxChange = 5, 80
)

// Status is the body of the status comment. At a glance it says how the program
// stands, in less than 2 KB; trajectory, Machine State and history are folded.
func Status(a Account) string {
	head := MD("%s\n## %s\n\n%s\n", Markup(StatusMark), a.Program.Name, a.standing()) + a.latest()
	doc, err := state.Parse(a.State)
	if err != nil {
		return body(head, MD("\nThe state cannot be read: %s\n", err))
	}
	const entry = "\n### "
	entries := strings.Split("\n"+doc.Section(state.History), entry)
	shown := strings.TrimSpace(strings.Join(entries[:min(len(entries), maxHistory+1)], entry))
	if shown != "" {
		shown += "\n"
	}
	return body(head, Fold("📈 Trajectory", Chart(a)),
		Fold("⚙️ Machine State", Markup(doc.Machine().Table())),
		Fold("📊 Iteration History", Markup(shown)), "\n"+robot)
}

// latest lists the last iterations, the latest first.
func (a Account) latest() Markup {
	if len(a.Attempts) == 0 {
		return ""
	}
	var rows [][]any
	for _, e := range slices.Backward(a.Attempts[max(len(a.Attempts)-maxLatest, 0):]) {
		change := e.Summary
		if change == "" && len(e.Reasons) > 0 {
			change = e.Reasons[0].String()
		}
		rows = append(rows, []any{
			Linked(e.Iteration, a.runOf(e.Decided)), Markup(Label(e.Outcome)), Figure(e.Metric, e.PreviousBest),
			plain.Short(change, maxChange),
		})
	}
	return "\n" + Grid("rlr", []any{"iteration", "", a.metric(), "change"}, rows...)
}

// Summary says in a few lines how the program stands.
func Summary(a Account) string { return string(a.standing()) }

func (a Account) standing() Markup {
	past := a.Summary
	text := Markup("▶️ **Running**")
	switch statuses := past.Statuses(); {
	case past.Completed != nil:
		text = "🏁 **Completed**: " + Stopped(past.Completed.String())
	case past.Paused != nil:
		text = "⏸️ **Paused**: " + Stopped(past.Paused.String()) + goOn
	case len(statuses) > 0 && statuses[len(statuses)-1] == string(history.PendingCI):
		text = "⏳ **Waiting for CI** of the last change"
	}
	if number := a.Pull(); number > 0 && past.PullEnded != number {
		text += MD(" · pull request #%d", number)
	}
	lines := []Markup{text + links("", a.Page)}
	if past.Initial != nil && past.Best != nil {
		best := MD("%s **%s** (%s)", a.metric(), Figure(past.Best), better(a.Program.Direction))
		if past.Best.Cmp(*past.Initial) != 0 {
			best += MD(", from %s: %s", Figure(past.Initial), gain(past))
		} else {
			best += ", as at the beginning"
		}
		if target := past.Target(a.Program.Target); target != nil {
			best += MD(", target %s", Figure(target))
		}
		lines = append(lines, best)
	}
	if past.Unmeasured() {
		lines = append(
			lines,
			MD("%s: measured at the next run, because iteration %d was undone", a.metric(), past.Undone),
		)
	}
	lines = append(lines, MD("%s%s", tally(past), spent(past)))
	for _, warning := range a.Warnings {
		lines = append(lines, MD("⚠️ %s", warning))
	}
	return Joined("\n\n", lines...)
}

// goOn says how a paused program goes on.
const goOn Markup = ". Say `/autoloop resume` here to go on."

// tally counts the iterations; the parts add up.
func tally(past *history.Summary) string {
	all := len(past.Attempts)
	kept, waiting, errors := past.Count(history.Accepted), past.Count(history.PendingCI), past.Count(history.Error)
	text, separator := Count(all, "iteration"), ": "
	for i, count := range []int{kept, all - kept - waiting - errors, waiting, errors} {
		if count > 0 {
			one := []string{"kept", "not kept", "waiting", "error"}[i]
			text += separator + Count(count, one, strings.Replace(one, "error", "errors", 1))
			separator = ", "
		}
	}
	return text
}

// gain is the difference from the beginning, signed, and as a share of it.
func gain(past *history.Summary) string {
	difference := past.Best.Sub(*past.Initial)
	text := Signed(&difference)
	if percent := Percent(difference, *past.Initial); percent != "" {
		text += ", " + percent
	}
	return text
}

// spent is what all iterations cost, as far as it is known.
func spent(past *history.Summary) string {
	spent, text := past.Spent(time.Time{}), ""
	if spent.Tokens > 0 {
		text += ", " + used(&spent.Tokens, nil, 0)
	}
	if spent.USD > 0 {
		text += ", " + USD(spent.USD)
		if spent.UnknownUSD > 0 {
			text += " and " + Count(spent.UnknownUSD, "iteration") + " of unknown cost"
		}
	}
	switch {
	case spent.MeasuringUSD > 0:
		text += " (" + USD(spent.MeasuringUSD) + " of it for measuring)"
	case spent.MeasuringTokens > 0:
		text += " (" + used(&spent.MeasuringTokens, nil, 0) + " of it for measuring)"
	}
	return text
}
