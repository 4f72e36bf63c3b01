package page

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/loop/budget"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/render"
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
	// Kept and Tried count iterations.
	Kept, Tried int
	// Budget is what was used of each budget; empty without one.
	Budget []budget.Used
	// Week is what was used in the last seven days, Total ever.
	Week, Total Cost
	Iterations  []*Iteration
	// Breaks are the numbers of the iterations after which a new baseline began.
	Breaks []int
	// Lessons and Foreclosed are what agents wrote down, oldest first.
	Lessons, Foreclosed []Note
	// Issue, Pull and Repository are addresses on GitHub; "" when unknown.
	Issue, Pull string

	// heat is the column of the first measurement of a suite's cases.
	heat []HeatColumn
	// drawn is the trajectory; drawing it also notes where each iteration is.
	drawn  template.HTML
	legend map[string]bool
}

// Note is something that an agent wrote down at the end of an iteration of a
// program, which is named by its anchor.
type Note struct {
	Program   string
	Iteration int
	Time      time.Time
	Text      string
}

// recentNotes is how many notes are shown at once.
const recentNotes = 6

// Notes are the notes of one kind, the newest first: those that are shown at
// once, and the others.
type Notes struct{ Recent, Earlier []Note }

func newestFirst(list []Note) Notes {
	turned := slices.Clone(list)
	slices.Reverse(turned)
	n := min(len(turned), recentNotes)
	return Notes{turned[:n], turned[n:]}
}

// Cost is what agents and evaluations used; an unknown part makes it a lower
// bound.
type Cost struct{ history.Spent }

// String is the cost in words.
func (c Cost) String() string {
	switch {
	case c.UnknownUSD == 0:
		return render.USD(c.USD)
	case c.USD == 0:
		return "unknown"
	}
	return "at least " + render.USD(c.USD)
}

// Words is the cost with the time that it took.
func (c Cost) Words() string {
	text := c.String()
	if text == "unknown" {
		text = "cost unknown"
	}
	return text + ", " + render.Minutes(c.Minutes)
}

// File is the name of the program's page in a directory of pages.
func (p *Program) File() string { return p.ID + ".html" }

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

func (p *Program) anchor() string { return "#" + p.ID }

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
func (p *Program) TargetText() string {
	switch {
	case p.Target == nil:
		return "—"
	case p.Direction == metric.Lower:
		return "≤ " + render.Figure(p.Target, p.Best)
	}
	return "≥ " + render.Figure(p.Target, p.Best)
}

// gained is the change since iteration 0; nil when it is not known.
func (p *Program) gained() *metric.Value {
	if p.Best == nil || p.Initial == nil {
		return nil
	}
	gain := p.Best.Sub(*p.Initial)
	return &gain
}

// GainSort is the gain for sorting programs of different metrics: in percent, and
// above zero where the program got better.
func (p *Program) GainSort() string {
	gained := p.gained()
	if gained == nil {
		return ""
	}
	gain := gained.Float64()
	if start := math.Abs(p.Initial.Float64()); start != 0 {
		gain = 100 * gain / start
	}
	if p.Direction == metric.Lower {
		gain = -gain
	}
	return strconv.FormatFloat(gain, 'g', 6, 64)
}

// Gain is the change since iteration 0 with its sign.
func (p *Program) Gain() string { return render.Signed(p.gained()) }

// GainPercent is the change since iteration 0 in percent with its sign; "" where that
// means nothing.
func (p *Program) GainPercent() string {
	if gained := p.gained(); gained != nil {
		return render.Percent(*gained, *p.Initial)
	}
	return ""
}

// GainClass is better or worse, in the metric's own direction; "" for no change.
func (p *Program) GainClass() string {
	switch gained := p.gained(); {
	case gained == nil || gained.Sign() == 0:
		return ""
	case p.Direction.Better(*p.Best, *p.Initial):
		return "better"
	}
	return "worse"
}

// Progress is how much of the way from iteration 0 to the target is done, in words; ""
// without a target or a way.
func (p *Program) Progress() string {
	gained := p.gained()
	if p.Target == nil || gained == nil {
		return ""
	}
	percent := 100.0
	if way := p.Target.Sub(*p.Initial).Float64(); way != 0 {
		percent = min(max(100*gained.Float64()/way, 0), 100)
	}
	return fmt.Sprintf("%.0f %% of the way", math.Floor(percent)) // 100 is the target, and nothing before it
}

// PerDollar is the gain for each dollar, in words; "" when it is not known.
func (p *Program) PerDollar() string { return p.per(p.Total.USD, p.Total.UnknownUSD == 0) }

// PerHour is the gain for each hour, in words; "" when it is not known. What took
// less than an hour says nothing of an hour: PerMinute is its figure.
func (p *Program) PerHour() string { return p.per(p.Total.Minutes/60, p.Total.Minutes >= 60) }

// PerMinute is the gain for each minute of what took between one and sixty, in words;
// "" otherwise.
func (p *Program) PerMinute() string {
	return p.per(p.Total.Minutes, p.Total.Minutes >= 1 && p.Total.Minutes < 60)
}

func (p *Program) per(cost float64, known bool) string {
	gained := p.gained()
	if gained == nil || gained.Sign() == 0 || cost <= 0 || !known {
		return ""
	}
	return render.SignedFloat(gained.Float64() / cost)
}

// Trajectory is every candidate as a point and the best as a line.
func (p *Program) Trajectory() template.HTML { return p.drawn }

// Drawn reports what the trajectory has of what its legend explains: kept,
// rejected, unmeasured, pending, beyond and interval.
func (p *Program) Drawn(what string) bool { return p.legend[what] }
