package page

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/render"
)

// Program is one program as the page shows it.
type Program struct {
	Source
	// ID is the name as an anchor; it holds letters, digits and hyphens alone.
	ID string
	// Attention means that it waits for a person.
	Attention bool
	// Kept and Tried count iterations.
	Kept, Tried int
	// Week is what was used in the last seven days, Total ever.
	Week, Total history.Spent
	Iterations  []*Iteration
	// Breaks are the numbers of the iterations after which a new baseline began.
	Breaks []int
	// Lessons and Foreclosed are what agents wrote down, newest first.
	Lessons, Foreclosed []Note
	// Issue and Pull are addresses on GitHub; "" when unknown.
	Issue, Pull string
}

// Note is something that an agent wrote down at the end of an iteration.
type Note struct {
	*Iteration
	Text string
}

// words say what agents and evaluations used, and for how long; an unknown part makes the cost a
// lower bound.
func words(spent history.Spent) string {
	text := render.USD(spent.USD)
	switch {
	case spent.UnknownUSD == 0:
	case spent.USD == 0:
		text = "cost unknown"
	default:
		text = "at least " + text
	}
	return text + ", " + render.Minutes(spent.Minutes)
}

// File is the name of a program's page in a directory of pages.
func File(name string) string { return anchor(name) + ".html" }

var notAnchor = lazyregexp.New(`[^a-z0-9-]`)

// anchor makes a program's name an anchor; names are slugs, whose dots and
// underscores are written as numbers so that no two names meet.
func anchor(name string) string {
	return "program-" + notAnchor().ReplaceAllStringFunc(name, func(c string) string {
		return fmt.Sprintf("_%x_", []rune(c)[0])
	})
}

// Better says which way is better, in words.
func (p *Program) Better() string { return p.Direction.String() + " is better" }

// BestText is the incumbent's number for people.
func (p *Program) BestText() string {
	if p.Best == nil && p.Initial != nil {
		return "measured at the next run" // an iteration was undone
	}
	return render.Figure(p.Best, p.Initial)
}

// InitialText is iteration 0's number for people.
func (p *Program) InitialText() string { return render.Figure(p.Initial, p.Best) }

// TargetText is the target for people.
func (p *Program) TargetText() string { return render.Target(p.Target, p.Best, p.Direction.String()) }

// Change is by how much the best differs from iteration 0.
type Change struct {
	Text    string
	Percent string // "" where that means nothing
	Class   string // better or worse in the metric's own direction; "" for no change
	Sort    string // for sorting programs of different metrics: above zero is better
}

// Change is what was gained so far.
func (p *Program) Change() Change {
	if p.Best == nil || p.Initial == nil {
		return Change{Text: "—"}
	}
	gained := p.Best.Sub(*p.Initial)
	c, gain := Change{Text: render.Signed(&gained), Percent: render.Percent(gained, *p.Initial)}, gained.Float64()
	switch {
	case p.Direction.Better(*p.Best, *p.Initial):
		c.Class = "better"
	case gained.Sign() != 0:
		c.Class = "worse"
	}
	if start := math.Abs(p.Initial.Float64()); start != 0 {
		gain = 100 * gain / start
	}
	if p.Direction == metric.Lower {
		gain = -gain
	}
	c.Sort = strconv.FormatFloat(gain, 'g', 6, 64)
	return c
}

// Progress is how much of the way from iteration 0 to the target is done, in words; ""
// without a target or a way.
func (p *Program) Progress() string {
	if p.Target == nil || p.Best == nil || p.Initial == nil {
		return ""
	}
	percent := 100.0
	if way := p.Target.Sub(*p.Initial).Float64(); way != 0 {
		percent = min(max(100*p.Best.Sub(*p.Initial).Float64()/way, 0), 100)
	}
	return fmt.Sprintf("%.0f %% of the way", math.Floor(percent)) // 100 is the target, and nothing before it
}

// Spark is the best so far as a line of bars.
func (p *Program) Spark() string {
	const bars = 24
	var list, shown []float64
	for _, it := range p.Iterations {
		list = known(list, it.Best)
	}
	for i := range min(len(list), bars) {
		shown = append(shown, list[(i+1)*len(list)/min(len(list), bars)-1])
	}
	if len(shown) == 0 {
		return ""
	}
	return render.Spark(shown)
}

// Went counts how the iterations ended, most frequent first.
func (p *Program) Went() []Share {
	return shares(p.Iterations, func(it *Iteration) string { return it.Label().Word })
}

// Author is an agent or model and what came of its iterations.
type Author struct {
	Name        string
	Kept, Tried int
	// Gained adds up by how much the best changed when its changes were kept.
	Gained float64
}

// Percent is how much of what was tried was kept, from 0 to 100.
func (a *Author) Percent() string {
	return coordinate(100 * float64(a.Kept) / float64(max(a.Tried, 1)))
}

// Gain is by how much the best changed, in words.
func (a *Author) Gain() string { return render.SignedFloat(a.Gained) }

// Authors are the agents and models, the one that was kept most often first.
func (p *Program) Authors() []*Author {
	var list []*Author
	named := map[string]*Author{}
	best := p.Initial
	for _, it := range p.Iterations {
		name := it.Author()
		a := named[name]
		if a == nil {
			a = &Author{Name: name}
			named[name], list = a, append(list, a)
		}
		a.Tried++
		if it.Kept() {
			a.Kept++
			if best != nil && it.Best != nil {
				a.Gained += it.Best.Sub(*best).Float64()
			}
		}
		if it.Best != nil {
			best = it.Best
		}
	}
	slices.SortStableFunc(list, func(a, b *Author) int {
		return cmp.Or(cmp.Compare(b.Kept, a.Kept), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// Share is one part of a whole, from 0 to 1.
type Share struct {
	Name  string
	Count int
	Part  float64
}

// shares counts what has the same name.
func shares[T any](of []T, named func(T) string) []Share {
	counts := map[string]int{}
	for _, one := range of {
		counts[named(one)]++
	}
	var list []Share
	for name, count := range counts {
		list = append(list, Share{name, count, float64(count) / float64(len(of))})
	}
	slices.SortFunc(list, func(a, b Share) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// clip bounds a text of unknown origin to n runes, and looks at no more of it than can
// hold so many; html/template takes care of markup.
func clip(text string, n int) string {
	const longest = 8 // bytes for each character
	return plain.Clip(plain.Text(text[:min(len(text), longest*n)]), n)
}

// Iteration is one decided iteration.
type Iteration struct {
	history.Attempt
	Program string // the anchor of its program
	// Before and After are the samples of both sides, Test what the comparison said, Interval the shift that it allows.
	Before, After []metric.Value
	Test          string
	Interval      *[2]float64
	Guardrails    []string
	// CommitURL and RunURL are addresses on GitHub; "" when unknown.
	CommitURL, RunURL string
	Diff              []DiffLine
}

// Kept reports whether the change is on the program's branch.
func (it *Iteration) Kept() bool { return it.Outcome == history.Accepted }

// Label is the outcome for people.
func (it *Iteration) Label() render.OutcomeText { return render.OutcomeOf(it.Outcome) }

// What is shown of an iteration without a summary: why it ended.
func (it *Iteration) What() string {
	if it.Summary == "" && len(it.Reasons) > 0 {
		return it.Reasons[0].String()
	}
	return cmp.Or(it.Summary, "no summary")
}

// Author is the agent, with its model when known.
func (it *Iteration) Author() string {
	author := clip(cmp.Or(it.Agent, "unknown"), 60)
	if it.Model != "" {
		author += " (" + clip(it.Model, 60) + ")"
	}
	return author
}

// Measured is the candidate's number with its difference, for people.
func (it *Iteration) Measured() string {
	text := render.Figure(it.Metric, it.PreviousBest, it.Best)
	if it.Delta != "" {
		return text + " (" + render.Rounded(clip(it.Delta, 60))[0] + ")"
	}
	return text
}

// maxDiffLines bounds the change that is shown of one iteration.
const maxDiffLines = 400

// DiffLine is one line of a change; its class is add, del, hunk, file or same.
type DiffLine struct{ Class, Text string }

// parseDiff reads a change as git prints it.
func parseDiff(patch []byte) []DiffLine {
	var lines []DiffLine
	for text := range strings.SplitSeq(strings.TrimRight(string(patch), "\n"), "\n") {
		class := "hunk"
		switch {
		case len(lines) == maxDiffLines:
			return append(lines, DiffLine{class, "… the commit has the rest"})
		case strings.HasPrefix(text, "diff --git "):
			class = "file"
		case text == "",
			strings.HasPrefix(text, "index "),
			strings.HasPrefix(text, "--- "),
			strings.HasPrefix(text, "+++ "):
			continue
		case text[0] == '+':
			class = "add"
		case text[0] == '-':
			class = "del"
		case text[0] == ' ':
			class = "same"
		}
		lines = append(lines, DiffLine{class, clip(text, 500)})
	}
	return lines
}
