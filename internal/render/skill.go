package render

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/lists"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
)

// SkillReport is what came of improving a skill; its JSON is for programs.
type SkillReport struct {
	Schema    int    `json:"schema"`
	Skill     string `json:"skill"`
	Workspace string `json:"workspace"`
	// Class is how it went: the first that fits, see converge.
	Class Class `json:"class"`
	// Start is the original's score, Best the best version's, nil when the
	// original was never measured; Gain is their difference with its sign.
	Start *metric.Value `json:"start"`
	Best  *metric.Value `json:"best"`
	Gain  string        `json:"gain"`
	// BestVersion is the iteration of the best version, 0 for the original.
	BestVersion    int    `json:"best_version"`
	Kept           int    `json:"kept"`
	Reverted       int    `json:"reverted"`
	Recommendation string `json:"recommendation"`
	Reason         string `json:"reason"`
	// NextSteps are for a person, in order.
	NextSteps  []string      `json:"next_steps"`
	Notes      []string      `json:"notes"`
	Trajectory []results.Row `json:"trajectory"`
	// RegressedCases are those that the original passes and the best does not.
	RegressedCases []string `json:"regressed_cases"`
	// Triggers are figures of their own, of the versions for which the trigger
	// queries were run; they decide nothing.
	Triggers []SkillTriggers `json:"triggers"`
	Failures []SkillFailure  `json:"remaining_failures"`
	// Cases are those of the suite before and after; Feedback is what graders say of
	// the suite.
	Cases    []SkillCase     `json:"cases,omitempty"`
	Feedback []SkillFeedback `json:"grader_feedback,omitempty"`
	Changes  []SkillChange   `json:"changes"`
	// Diff is for `git apply`; `--diff` prints it as it is where it is not UTF-8.
	Diff string `json:"diff"`
}

// SkillFailure is an expectation that the best version does not pass.
type SkillFailure struct {
	Case     string `json:"case"`
	Text     string `json:"text"`
	Evidence string `json:"evidence"`
}

// SkillCase is the pass rate of a case, of the original and of the best version;
// nil where it was not run.
type SkillCase struct {
	ID     string        `json:"id"`
	Before *metric.Value `json:"before"`
	After  *metric.Value `json:"after"`
}

// SkillFeedback is one thing that a grader would improve in the suite.
type SkillFeedback struct {
	Case string `json:"case"`
	Text string `json:"text"`
}

// SkillTriggers is what the trigger queries of one version came to.
type SkillTriggers struct {
	Version int          `json:"version"`
	Score   metric.Value `json:"score"`
	// Right of Total queries had the skill taken up, or left, as the suite says.
	Right    int            `json:"right"`
	Total    int            `json:"total"`
	Failures []SkillFailure `json:"failures"`
}

// SkillChange is one path that differs between v0 and the best version.
type SkillChange struct {
	Path string `json:"path"` // quoted when it is not plain
	What string `json:"what"` // added, deleted, changed, mode
	// Mode is "0644 -> 0755" when it changed, else "".
	Mode   string `json:"mode,omitempty"`
	Binary bool   `json:"binary,omitempty"`
}

// NewSkillReport fills in what follows from the table of iterations and from what is in the
// report already; whole says that the last run had all the iterations that were asked for, and
// was not ended by its reverts, graded that a grader gave verdicts.
func NewSkillReport(r SkillReport, rows []results.Row, whole, graded bool) SkillReport {
	r.Schema, r.Trajectory = 1, rows
	converge(&r, rows, whole)
	note := func(format string, args ...any) { r.Notes = append(r.Notes, fmt.Sprintf(format, args...)) }
	unmeasured := 0 // at the end
	for _, row := range rows {
		if unmeasured++; row.Action != results.Reverted || row.Score != nil {
			unmeasured = 0
		}
	}
	if r.Class == "perfect" && r.BestVersion == 1 {
		note("perfect at iteration 1: look whether the suite is hard enough")
	}
	if unmeasured >= stuckReverts {
		note("the last %d candidates were not measured at all: the trajectory says why, and it is the improver that "+
			"needs a look, not the skill", unmeasured)
	}
	if bounces(rows) {
		note("the scores bounce without a trend: expectations may be a matter of taste; make them checkable")
	}
	if graded && r.Kept > 0 && r.Best != nil && r.Start != nil && WithinNoise(*r.Best, *r.Start) {
		note("the gain is under " + graderNoise + ", within the noise of a grader when each version ran once")
	}
	if n := len(r.Triggers) - 1; n > 0 && r.Triggers[0].Version == 0 && r.Triggers[n].Version == r.BestVersion &&
		r.Triggers[n].Score.Cmp(r.Triggers[0].Score) < 0 {
		note("agents take up v%d when they should, and leave it when not, less often than the original "+
			"(%s of the trigger queries, %s before): look at the description in its SKILL.md",
			r.BestVersion, Figure(&r.Triggers[n].Score), Figure(&r.Triggers[0].Score))
	}
	r.Notes, r.Trajectory, r.NextSteps = orEmpty(r.Notes), orEmpty(r.Trajectory), orEmpty(r.NextSteps)
	r.RegressedCases, r.Triggers = orEmpty(r.RegressedCases), orEmpty(r.Triggers)
	r.Failures, r.Changes = orEmpty(r.Failures), orEmpty(r.Changes)
	return r
}

// orEmpty is a list that JSON has as [].
func orEmpty[T any](list []T) []T { return append([]T{}, list...) }

// graderNoise is the difference of single runs that says little.
const graderNoise = "0.05"

// WithinNoise reports whether two scores of single runs differ, but by less than
// a grader's own noise: such a difference says little. A tie is not one.
func WithinNoise(a, b metric.Value) bool {
	difference := a.Sub(b).Abs()
	return difference.Sign() > 0 && difference.Cmp(metric.MustValue(graderNoise)) < 0
}

// bounces reports whether the scores went up and down by turns at least three
// times and nothing came of it.
func bounces(rows []results.Row) bool {
	const turns = 3
	var last *metric.Value
	direction, turned := 0, 0
	for _, row := range rows {
		if row.Score == nil {
			continue
		}
		if last != nil {
			if now := row.Score.Cmp(*last); now != 0 && now != direction {
				turned, direction = turned+1, now
			}
		}
		last = row.Score
	}
	return turned > turns // the first is no turn
}

// Markdown renders the report; nothing in the texts is markup.
func (r SkillReport) Markdown() string { return "# " + r.render(markdown("#")) }

// Text renders the report for a terminal: there is no markup in it.
func (r SkillReport) Text() string { return r.render(onTerminal()) }

// HTML renders the report for a page.
func (r SkillReport) HTML() string { return html(r.Markdown()) }

func (r SkillReport) render(f form) string {
	out := fmt.Sprintf("%s: %s\n\nStart %s, best %s (v%d), gain %s; %d kept, %d reverted.\n", f.text(r.Skill, maxLabel),
		r.Class, Figure(r.Start), Figure(r.Best), r.BestVersion, rounded(r.Gain), r.Kept, r.Reverted)
	var scores []float64
	for _, row := range r.Trajectory {
		if row.Score != nil {
			scores = append(scores, row.Score.Float64())
		}
	}
	if len(scores) > 1 {
		out += "\n" + Spark(scores) + "  the score of each iteration\n"
	}
	out += fmt.Sprintf("\nRecommendation: %s — %s.\n", f.strong(r.Recommendation), r.Reason)
	for _, note := range r.Notes {
		out += "\nNote: " + note + ".\n"
	}
	if len(r.NextSteps) > 0 {
		out += f.heading("Next steps")
	}
	for i, step := range r.NextSteps {
		out += fmt.Sprintf("%d. %s\n", i+1, step)
	}
	out += f.grid("Trajectory", "rrr", []string{"iteration", "score", "best", "action", "change"},
		lists.Map(r.Trajectory, func(row results.Row) []string {
			return []string{
				strconv.Itoa(row.Iteration), Figure(row.Score), Figure(row.Best), string(row.Action),
				f.text(rounded(row.Changelog), maxLine),
			}
		}))
	title, columns := "Cases before and after", []string{"case", "v0", fmt.Sprint("v", r.BestVersion)}
	if r.BestVersion == 0 { // nothing was kept: there is no after
		title, columns = "Cases", columns[:2]
	}
	out += f.grid(title, "lrr", columns, lists.Map(r.Cases, func(c SkillCase) []string {
		return []string{f.text(c.ID, maxLabel), Figure(c.Before), Figure(c.After)}
	}))
	label := func(id string) string { return f.text(id, maxLabel) }
	out += f.section("Cases that the best version lost", lists.Map(r.RegressedCases, label)) +
		f.section("Trigger queries", lists.Map(r.Triggers, f.triggers)) +
		f.section("Remaining failures", lists.Map(r.Failures, f.failure)) +
		f.section("What the grader would improve in the suite",
			lists.Map(MergedFeedback(r.Feedback), func(one SkillFeedback) string {
				return label(one.Case) + ": " + f.text(one.Text, maxLine)
			})) +
		f.section("Changes from v0", lists.Map(r.Changes, f.change))
	if r.Diff != "" {
		out += f.diff(r.Diff)
	}
	return out
}

// grid is a table under a heading; nothing when it is empty.
func (f form) grid(title, align string, header []string, rows [][]string) string {
	if len(rows) == 0 {
		return ""
	}
	return f.heading(title) + f.table(Table{Header: header, Align: align, Rows: rows})
}

// MergedFeedback has one entry for what a grader says of several cases.
func MergedFeedback(feedback []SkillFeedback) []SkillFeedback {
	var list []SkillFeedback
	at := map[string]int{} // from 1
	for _, one := range feedback {
		if known := at[one.Text]; known > 0 {
			list[known-1].Case += ", " + one.Case
			continue
		}
		list = append(list, one)
		at[one.Text] = len(list)
	}
	return list
}

func (f form) failure(s SkillFailure) string {
	return fmt.Sprintf("%s: %s (%s)", f.text(s.Case, maxLabel), f.text(s.Text, maxLine), f.text(s.Evidence, maxLine))
}

func (f form) triggers(t SkillTriggers) string {
	text := fmt.Sprintf("v%d: %s, %d of %d right", t.Version, Figure(&t.Score), t.Right, t.Total)
	for _, failed := range t.Failures {
		text += "\n  " + f.item + f.failure(failed)
	}
	return text
}

func (f form) change(c SkillChange) string {
	text := c.What + " " + f.text(c.Path, maxLine)
	if c.Binary {
		text += " (binary)"
	}
	if c.Mode != "" {
		text += " (mode " + c.Mode + ")"
	}
	return text
}

// fencedDiff is a patch behind a fence that nothing in it closes.
func fencedDiff(diff string) string {
	fence, note := plain.Fence(diff), ""
	seen := Pictured(diff)
	if seen != diff {
		note = "Control characters are shown by their names; `--diff` gives the patch as it is.\n\n"
	}
	return "\n## Diff\n\n" + note + fence + "diff\n" + strings.TrimSuffix(seen, "\n") + "\n" + fence + "\n"
}

// Pictured shows what a terminal or a reader would obey and not show, so that a
// change cannot hide from the person who is asked about it: control characters,
// a carriage return within a line, and those that turn the direction of text.
func Pictured(diff string) string {
	var out strings.Builder
	for i, r := range diff {
		switch {
		case r == '\n', r == '\t', r == '\r' && strings.HasPrefix(diff[i:], "\r\n"):
			out.WriteRune(r)
		case r < ' ':
			out.WriteRune('\u2400' + r) // control pictures
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == '\u2028', r == '\u2029':
			fmt.Fprintf(&out, "<U+%04X>", r)
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}
