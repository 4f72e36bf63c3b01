package render

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/plain"
)

const (
	// maxHistory is how many entries of the history the status has, folded.
	maxHistory = 10
	// maxLatest is how many iterations it shows at a glance.
	maxLatest = 5
)

// Status is the body of the status comment. At a glance it says how the program
// stands, in less than 2 KB; trajectory, Machine State and history are folded.
func Status(a Account) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n## %s\n\n%s\n", StatusMark, line(a.Program.Name), Summary(a))
	latest(&b, a)
	doc, err := state.Parse(a.State)
	if err != nil {
		fmt.Fprintf(&b, "\nThe state cannot be read: %s\n", line(err.Error()))
		return bounded(b.String())
	}
	if chart := Chart(a); chart != "" {
		fold(&b, "📈 Trajectory", chart)
	}
	fold(&b, "⚙️ Machine State", strings.TrimSpace(doc.Table())+"\n")
	if entries := historySection(doc.Section(state.History)); entries != "" {
		fold(&b, "📊 Iteration History", entries+"\n")
	}
	b.WriteString("\n" + robot)
	return bounded(b.String())
}

// fold adds a part that is shown when somebody opens it.
func fold(b *strings.Builder, title, text string) {
	fmt.Fprintf(b, "\n<details><summary>%s</summary>\n\n%s\n</details>\n", title, text)
}

// latest lists the last iterations, the latest first.
func latest(b *strings.Builder, a Account) {
	decided := a.Decided()
	if len(decided) == 0 {
		return
	}
	table := Table{
		Header: []string{"iteration", "", cell(metricName(a.Program)), "change"}, Align: "rlr",
	}
	for _, e := range slices.Backward(decided[max(len(decided)-maxLatest, 0):]) {
		number := strconv.Itoa(e.Iteration)
		if url := a.runOf(e); url != "" {
			number = "[" + number + "](" + url + ")"
		}
		change := e.Summary
		if change == "" && len(e.Reasons) > 0 {
			change = e.Reasons[0].String()
		}
		table.Rows = append(table.Rows, []string{
			number, Label(e.Outcome), Figure(e.Metric, e.PreviousBest),
			strings.ReplaceAll(plain.Quote(change, 80), "|", `\|`),
		})
	}
	b.WriteString("\n" + table.Markdown())
}

// Summary says in a few lines how the program stands.
func Summary(a Account) string {
	past := a.Summary()
	var lines []string
	lines = append(lines, standing(a, past))
	if past.Initial != nil && past.Best != nil {
		text := fmt.Sprintf("%s **%s** (%s)", metricName(a.Program), Figure(past.Best), better(a))
		if difference := past.Best.Sub(*past.Initial); difference.Sign() != 0 {
			text += fmt.Sprintf(", from %s: %s", Figure(past.Initial), gain(past))
		} else {
			text += ", as at the beginning"
		}
		if target := past.Target(a.Program.Target); target != nil {
			text += ", target " + Figure(target)
		}
		lines = append(lines, text)
	}
	if past.Unmeasured() {
		lines = append(lines, fmt.Sprintf("%s: measured at the next run, because iteration %d was undone",
			metricName(a.Program), past.Undone))
	}
	lines = append(lines, tally(a)+spentLine(a))
	for _, warning := range a.Warnings {
		lines = append(lines, "⚠️ "+line(warning))
	}
	return strings.Join(lines, "\n\n")
}

// standing is how the program stands, in a few words.
func standing(a Account, past history.Summary) string {
	text := "▶️ **Running**"
	switch statuses := past.Statuses(); {
	case past.Completed != nil:
		text = "🏁 **Completed**: " + Stopped(past.Completed.String())
	case past.Paused != nil:
		text = "⏸️ **Paused**: " + Stopped(past.Paused.String())
		text += goOn
	case len(statuses) > 0 && statuses[len(statuses)-1] == string(history.PendingCI):
		text = "⏳ **Waiting for CI** of the last change"
	}
	if number := a.openPull(); number > 0 {
		text += fmt.Sprintf(" · pull request #%d", number)
	}
	return text + a.pageLink()
}

// goOn says how a paused program goes on.
const goOn = ". Say `/autoloop resume` here to go on."

// tally counts the iterations; the parts add up.
func tally(a Account) string {
	past := a.Summary()
	all := past.Decided()
	kept, waiting, errors := past.Count(history.Accepted), past.Count(history.PendingCI), past.Count(history.Error)
	text, separator := Count(all, "iteration", "iterations"), ": "
	for i, count := range []int{kept, all - kept - waiting - errors, waiting, errors} {
		if count > 0 {
			text += separator + Count(count, []string{"kept", "not kept", "waiting", "error"}[i],
				[]string{"kept", "not kept", "waiting", "errors"}[i])
			separator = ", "
		}
	}
	return text
}

func better(a Account) string { return a.Program.Direction.String() + " is better" }

// gain is the difference from the beginning, signed, and as a share of it.
func gain(past history.Summary) string {
	difference := past.Best.Sub(*past.Initial)
	text := Signed(&difference)
	if percent := Percent(difference, *past.Initial); percent != "" {
		text += ", " + percent
	}
	return text
}

// historySection keeps the first entries of the section.
func historySection(section string) string {
	const entry = "\n### "
	entries := strings.Split("\n"+section, entry)
	return strings.TrimSpace(strings.Join(entries[:min(len(entries), maxHistory+1)], entry))
}
