package page

import (
	"html/template"
	"strconv"
	"strings"
	"time"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
)

// Program is one program as the page shows it.
type Program struct {
	Name string
	// ID is the name as an anchor; it holds letters, digits and hyphens alone.
	ID string
	// Metric names what is measured; Direction says which way is better.
	Metric    string
	Direction metric.Direction
	// State is one word for how the program stands, Reason says why it does not
	// run; Attention means that it waits for a person.
	State, Reason    string
	Attention        bool
	LastRun, NextDue time.Time
	// Initial is iteration 0's metric, Best the incumbent's, nil before a
	// baseline; Target is nil when open-ended.
	Initial, Best, Target *metric.Value
	Kept, Tried           int
	// Budget says what was used of each budget, in words; empty without one.
	Budget []string
	// Week is what was used in the last seven days, Total ever.
	Week, Total Cost
	Iterations  []*Iteration
	// Breaks are the numbers of the iterations after which a new baseline began.
	Breaks []int
	// Lessons and Foreclosed are what agents wrote down, oldest first.
	Lessons, Foreclosed []Note
	// Issue, Pull and Repository are addresses on GitHub; "" when unknown.
	Issue, Pull string

	// proposals are the candidates of a population, with what each grew from.
	proposals []*history.Event
	// drawn is the trajectory; drawing it also notes where each iteration is.
	drawn template.HTML
}

// Note is something that an agent wrote down at the end of an iteration.
type Note struct {
	Iteration int
	Text      string
}

// Cost is what agents and evaluations used; an unknown part makes it a lower
// bound.
type Cost struct {
	USD     float64
	Tokens  int64
	Minutes float64
	// Unknown is how many iterations did not say what they cost.
	Unknown int
}

// String is the cost in words.
func (c Cost) String() string {
	text := "$" + strconv.FormatFloat(c.USD, 'f', 2, 64)
	if c.Unknown > 0 {
		text = "at least " + text
	}
	return text
}

// File is the name of the program's page in a directory of pages.
func (p *Program) File() string { return p.ID + ".html" }

// anchor makes a program's name an anchor; names are slugs, whose dots and
// underscores are written as numbers so that no two names meet.
func anchor(name string) string {
	var b strings.Builder
	b.WriteString("program-")
	for _, r := range name {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' {
			b.WriteRune(r)
			continue
		}
		b.WriteString("_" + strconv.FormatInt(int64(r), 16) + "_")
	}
	return b.String()
}

// Better says which way is better, in words.
func (p *Program) Better() string {
	if p.Direction == metric.Lower {
		return "lower is better"
	}
	return "higher is better"
}

// BestText is the incumbent's number for people.
func (p *Program) BestText() string { return number(p.Best) }

// InitialText is iteration 0's number for people.
func (p *Program) InitialText() string { return number(p.Initial) }

// TargetText is the target for people.
func (p *Program) TargetText() string {
	if p.Target == nil {
		return "—"
	}
	if p.Direction == metric.Lower {
		return "≤ " + number(p.Target)
	}
	return "≥ " + number(p.Target)
}

// Gain is the change since iteration 0 with its sign, and in percent where
// that means something.
func (p *Program) Gain() string {
	if p.Best == nil || p.Initial == nil {
		return "—"
	}
	change := p.Best.Sub(*p.Initial)
	if change.Sign() == 0 {
		return "0"
	}
	text := short(change.Float64())
	if change.Sign() > 0 {
		text = "+" + text
	}
	if start := p.Initial.Float64(); start != 0 {
		percent := 100 * change.Float64() / abs(start)
		text += " (" + signed(percent) + " %)"
	}
	return text
}

// progress is how far the target is, as a share of the way from iteration 0 in
// percent, from 0 to 100; ok is false without a target or a way.
func (p *Program) progress() (percent float64, ok bool) {
	if p.Target == nil || p.Best == nil || p.Initial == nil {
		return 0, false
	}
	way := p.Target.Sub(*p.Initial).Float64()
	if way == 0 {
		return 100, true
	}
	return min(max(100*p.Best.Sub(*p.Initial).Float64()/way, 0), 100), true
}

// Progress is how much of the way to the target is done, in words.
func (p *Program) Progress() string {
	percent, ok := p.progress()
	if !ok {
		return ""
	}
	return strconv.FormatFloat(percent, 'f', 0, 64) + " % of the way"
}

// Usage is what was used this week against the budget, in words.
func (p *Program) Usage() string {
	if len(p.Budget) > 0 {
		return strings.Join(p.Budget, "; ")
	}
	return p.Week.String() + ", " + strconv.FormatFloat(p.Week.Minutes, 'f', 0, 64) + " min"
}

// PerDollar is the gain for each dollar, in words.
func (p *Program) PerDollar() string { return p.per(p.Total.USD, p.Total.Unknown > 0) }

// PerHour is the gain for each hour, in words.
func (p *Program) PerHour() string { return p.per(p.Total.Minutes/60, false) }

func (p *Program) per(cost float64, unknown bool) string {
	if p.Best == nil || p.Initial == nil || cost <= 0 || unknown {
		return "—"
	}
	return short(p.Best.Sub(*p.Initial).Abs().Float64() / cost)
}

// Went counts where the iterations went, most frequent first.
func (p *Program) Went() []Share {
	counts := map[string]int{}
	for _, it := range p.Iterations {
		counts[it.Kind()]++
	}
	return shares(counts, len(p.Iterations))
}

// Authors counts which agent or model was kept how often.
func (p *Program) Authors() []Share {
	counts := map[string]int{}
	kept := 0
	for _, it := range p.Iterations {
		if it.Kept() {
			counts[it.Author()]++
			kept++
		}
	}
	return shares(counts, kept)
}

// Sparkline is the best value over the iterations.
func (p *Program) Sparkline() template.HTML { return sparkline(p) }

// Trajectory is every candidate as a point and the best as a line.
func (p *Program) Trajectory() template.HTML { return p.drawn }

// CostChart is the cost added up over the iterations.
func (p *Program) CostChart() template.HTML { return costChart(p) }

// Lineage draws which candidate of a population grew from which.
func (p *Program) Lineage() template.HTML { return lineage(p.proposals, p.Direction) }

// Parallel draws what the tuner tried, a vertical line a parameter.
func (p *Program) Parallel() template.HTML { return parallel(p) }
