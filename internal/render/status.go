package render

import (
	"fmt"
	"strings"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/state"
)

// maxHistory is how many entries of the history the status shows.
const maxHistory = 10

// Status is the body of the status comment: the Machine State table, a summary,
// the trajectory, and the latest entries of the history.
func Status(a Account) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n## %s\n\n%s\n", StatusMark, line(a.Program.Name), Summary(a))
	doc, err := state.Parse(a.State)
	if err != nil {
		fmt.Fprintf(&b, "\nThe state cannot be read: %s\n", line(err.Error()))
		return bounded(b.String())
	}
	fmt.Fprintf(&b, "\n### ⚙️ Machine State\n\n%s\n", strings.TrimSpace(doc.Table()))
	if chart := Chart(a); chart != "" {
		fmt.Fprintf(&b, "\n### 📈 Trajectory\n\n%s", chart)
	}
	fmt.Fprintf(&b, "\n### 📊 Iteration History\n\n%s\n\n%s", historySection(doc.Section(state.History)), robot)
	return bounded(b.String())
}

// Summary says in a few lines how the program stands.
func Summary(a Account) string {
	books := a.Books()
	var lines []string
	switch {
	case books.Completed != "":
		lines = append(lines, "🏁 **Completed**: "+line(books.Completed))
	case books.PausedReason != "":
		lines = append(lines, "⏸️ **Paused**: "+line(books.PausedReason)+". Say `/autoloop resume` here to go on.")
	case len(books.Statuses()) > 0 && books.Statuses()[len(books.Statuses())-1] == string(history.PendingCI):
		lines = append(lines, "⏳ **Waiting for CI** of the last change.")
	default:
		lines = append(lines, "▶️ **Running**")
	}
	if books.Initial != nil && books.Best != nil {
		lines = append(lines, fmt.Sprintf("%s: **%s** (%s), from %s at the beginning (%s)", metricName(a.Program), books.Best,
			better(a), books.Initial, gain(a, books)))
	}
	counts := fmt.Sprintf("%d iterations: %d accepted, %d rejected, %d errors", len(books.Attempts), books.Count(history.Accepted),
		books.Count(history.Rejected), books.Count(history.Error))
	lines = append(lines, counts+spentLine(a))
	for _, warning := range a.Warnings {
		lines = append(lines, "⚠️ "+line(warning))
	}
	return strings.Join(lines, "\n\n")
}

func better(a Account) string { return a.Program.Direction.String() + " is better" }

// gain is the difference from the beginning, signed, and as a share of it.
func gain(a Account, books history.Books) string {
	difference := books.Best.Sub(*books.Initial)
	text := difference.Signed()
	if initial := books.Initial.Float64(); initial != 0 {
		text += fmt.Sprintf(", %+.1f %%", 100*difference.Float64()/abs(initial))
	}
	return text
}

func abs(f float64) float64 {
	if f < 0 {
		return -f
	}
	return f
}

// history keeps the first entries of the section.
func historySection(section string) string {
	entries := 0
	for at, text := 0, section; ; {
		next := strings.Index(text, "\n### ")
		if strings.HasPrefix(text, "### ") {
			entries++
		}
		if entries > maxHistory {
			return strings.TrimSpace(section[:at])
		}
		if next < 0 {
			return strings.TrimSpace(section)
		}
		at += next + 1
		text = text[next+1:]
	}
}
