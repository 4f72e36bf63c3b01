package prompt

import (
	"fmt"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
)

const (
	// maxAttempts bounds the attempts that are listed, maxKept the kept ones
	// among those before them.
	maxAttempts = 12
	maxKept     = 6
	// stuck is how many rejections in a row ask for a different approach.
	stuck = 3
)

// handback asks for what later attempts should know.
const handback = "- What later attempts should know you may write into the file `" + NotesFile +
	"` in the current directory, at most five lines of each kind:\n" +
	"  `LESSON: …` for what you learned, `FORECLOSED: …` for an approach that cannot work, with the reason, `IDEA: " +
	"…` for what is worth trying.\n" +
	"  The file is taken out before your change is looked at.\n"

// writeMemory writes what earlier iterations left, the most useful first.
func writeMemory(b *strings.Builder, in Input) {
	rejected := 0 // of the last attempts without a break
	for _, attempt := range slices.Backward(in.Attempts) {
		if !attempt.Outcome.Dropped() {
			break
		}
		rejected++
	}
	if in.Parent == nil && rejected >= stuck { // who develops a member of the population further is not asked
		fmt.Fprintf(b, "## Take a different approach\n\nThe last %d attempts were all rejected. Do not vary them "+
			"once more: "+
			"choose an approach that differs in kind from every attempt below, and say in your last line how it "+
			"differs.\n\n", rejected)
	}
	for _, section := range in.Sections {
		fenced(b, section.Title, strings.TrimSpace(section.Text), in.room(maxSection))
	}
	if len(in.Attempts) == 0 {
		return
	}
	recent, kept := max(len(in.Attempts)-in.room(maxAttempts), 0), 0
	var before []history.Attempt // that were kept before the recent ones
	for i, attempt := range in.Attempts {
		if attempt.Outcome == history.Accepted {
			if kept++; i < recent {
				before = append(before, attempt)
			}
		}
	}
	fmt.Fprintf(b, "## Recent attempts, newest first\n\nOf %d attempts so far %d were kept.\n\n",
		len(in.Attempts), kept)
	listed(b, in.Attempts[recent:])
	if len(before) > 0 {
		b.WriteString("Kept before those:\n\n")
		listed(b, before[max(len(before)-in.room(maxKept), 0):])
	}
}

// listed writes attempts, the newest first. What agents said of them is data.
func listed(b *strings.Builder, attempts []history.Attempt) {
	var lines strings.Builder
	for i, attempt := range slices.Backward(attempts) {
		most := maxLine
		if i == len(attempts)-1 {
			most = maxNewest // Why it failed is told whole.
		}
		fmt.Fprintf(&lines, "- %s\n", plain.Short(describe(attempt), most))
	}
	fenced(b, "", lines.String(), lines.Len())
}

// describe is one attempt in a line.
func describe(a history.Attempt) string {
	change := ""
	if a.Metric != nil && a.Delta != "" {
		change = fmt.Sprintf(" (%s)", a.Delta)
	}
	line := result(fmt.Sprintf("iteration %d, %s", a.Iteration, a.Outcome), a.Metric, change, a.Summary)
	if a.Outcome != history.Accepted && len(a.Reasons) > 0 {
		line += " — " + decision.Joined(a.Reasons)
	}
	return line
}

// result is what an attempt measured and said, behind its name.
func result(line string, measured *metric.Value, change, summary string) string {
	if measured != nil {
		line += ", metric " + measured.String() + change
	}
	if summary != "" {
		line += ": " + summary
	}
	return line
}

// shortened cuts the middle out of a text, at line breaks when it has some: what
// people write comes first, and what was added last is the newest.
func shortened(text string, most int) string {
	if len(text) <= most {
		return text
	}
	head, tail := text[:most/2], text[len(text)-most/2:]
	if at := strings.LastIndexByte(head, '\n'); at > 0 {
		head = head[:at]
	}
	if at := strings.IndexByte(tail, '\n'); at >= 0 && at < len(tail)-1 {
		tail = tail[at+1:]
	}
	return strings.ToValidUTF8(head, "") + "\n… (shortened)\n" + strings.ToValidUTF8(tail, "")
}

// maxPatch bounds the change of one inspiration, in bytes.
const maxPatch = 3_000

// title is an earlier program of the population in a line.
func title(r *history.Proposed) string {
	line := fmt.Sprintf("iteration %d", r.Iteration)
	if r.Proposal > 1 {
		line += fmt.Sprintf(", proposal %d", r.Proposal)
	}
	return "- " + plain.Short(result(line, r.Metric, "", r.Summary), maxLine)
}

// writeLineage says what the files are, and shows other programs.
func writeLineage(b *strings.Builder, in Input) {
	if in.Parent != nil {
		b.WriteString("## Where you begin\n\nThe files in this directory are not the best ones so far but those of " +
			"an earlier attempt, to be developed further:\n\n")
		fenced(b, "", title(in.Parent), 2*maxLine)
		if in.Best != nil {
			fmt.Fprintf(b, "What you make of them is kept when it is better than %s.\n\n", in.Best)
		}
	}
	if len(in.Inspirations) == 0 {
		return
	}
	b.WriteString("## Other attempts, as inspiration\n\nTake what is good in them, in a way of your own.\n\n")
	for _, one := range in.Inspirations {
		fenced(b, "", title(one)+"\n"+one.Patch, in.room(maxPatch))
	}
}
