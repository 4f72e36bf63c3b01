package state

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/metric"
)

// ParseMachine reads the Machine State table alone, and nothing behind it. The
// error is a *Problem: the file has no such table, or a value in it cannot be
// read. Such a program must not run; it is not one that never ran.
func ParseMachine(data []byte) (Machine, []Warning, error) {
	found, problem := findTable(data)
	if problem != nil {
		return Machine{}, nil, problem
	}
	return readMachine(data, &found)
}

// reader turns cells into values, and remembers the first that it could not.
type reader struct {
	data     []byte
	table    *table
	warnings []Warning
	problem  *Problem
}

func readMachine(data []byte, found *table) (m Machine, _ []Warning, _ error) {
	r := reader{data: data, table: found, warnings: found.twice}
	for f := range fieldCount {
		r.read(f, &m)
	}
	if r.problem != nil {
		return Machine{}, r.warnings, r.problem
	}
	if m.LastRun == nil && m.IterationCount > 0 {
		r.warn(lastRun, "there is no Last Run, though the Iteration Count is %d; it counts as never run",
			m.IterationCount)
	}
	return m, r.warnings, nil
}

func (r *reader) read(f field, m *Machine) {
	switch value := f.of(m).(type) {
	case **time.Time:
		*value = r.time(f)
	case *int:
		*value = r.count(f)
	case *number:
		*value = r.number(f)
	case **metric.Value:
		*value = r.metric(f)
	case *metric.Direction:
		*value, m.DirectionGiven = r.direction()
	case *bool:
		*value = r.flag(f)
	case *string:
		*value = r.bare(f)
	case *prose:
		*value = prose(strings.ToValidUTF8(unescapeCell(r.raw(f)), "\uFFFD"))
	case *[]string:
		all := r.statuses()
		*value, m.cut = lastStatuses(all), len(all) > MaxStatuses
	}
}

// raw returns the cell as it is written; "" for a null sign or a missing row.
func (r *reader) raw(f field) string {
	c := r.table.cells[f]
	text := string(r.data[c.start:c.end])
	if isNull(bare(text)) || saysNone(f, bare(text)) {
		return ""
	}
	return text
}

// bare returns the cell without code marks and emphasis; "" for null.
func (r *reader) bare(f field) string { return bare(r.raw(f)) }

func bare(text string) string { return strings.Trim(text, "`*_ \t") }

func (r *reader) fail(f field, wanted string) {
	if r.problem != nil {
		return
	}
	r.problem = &Problem{
		Line: r.table.cells[f].row.number,
		Message: fmt.Sprintf("%s is %q, which is not %s; correct the cell, or write — for none", f.name(),
			clipped(r.raw(f)), wanted),
	}
}

func (r *reader) warn(f field, format string, args ...any) {
	r.warnings = append(r.warnings, Warning{Line: r.table.cells[f].row.number, Message: fmt.Sprintf(format, args...)})
}

func (r *reader) time(f field) *time.Time {
	text := r.bare(f)
	if text == "" {
		return nil
	}
	at, ok := parseTime(text)
	if !ok {
		r.fail(f, "a time such as 2025-01-15T10:30:00Z")
		return nil
	}
	return &at
}

func (r *reader) count(f field) int {
	text := r.bare(f)
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > maxCount {
		r.fail(f, "a count")
		return 0
	}
	return n
}

func (r *reader) metric(f field) *metric.Value {
	number, words, more := strings.Cut(r.bare(f), " ")
	if number == "" {
		return nil
	}
	value, err := metric.ParseValue(number)
	if err != nil {
		r.fail(f, "a number")
		return nil
	}
	if more {
		r.warn(f, "%s is read as %s; the words %q after it are ignored", f.name(), value, clipped(words))
	}
	return &value
}

func (r *reader) flag(f field) bool {
	word, _, _ := strings.Cut(words([]byte(r.bare(f))), " ")
	switch {
	case word == "true" || word == "yes":
		return true
	case word != "false" && word != "no" && r.bare(f) != "":
		r.fail(f, "`true` or `false`")
	}
	return false
}

func (r *reader) direction() (metric.Direction, bool) {
	text := r.bare(metricDirection)
	if text == "" {
		return metric.Higher, false
	}
	direction, err := metric.ParseDirection(text)
	if err != nil {
		r.fail(metricDirection, "`higher` or `lower`")
	}
	return direction, true
}

// number reads #12, 12, a link or an address. What it cannot read is no number
// and a warning: whose pull request it is, is decided by its branch.
func (r *reader) number(f field) number {
	text := r.raw(f)
	if text == "" {
		return 0
	}
	digits := text[strings.LastIndexByte(text, '/')+1:]
	if _, after, found := strings.Cut(text, "#"); found {
		digits = after
	}
	digits = strings.TrimLeft(digits, "`*_ ")
	digits = digits[:len(digits)-len(strings.TrimLeft(digits, "0123456789"))]
	n, err := strconv.Atoi(digits)
	if err != nil || n <= 0 || n > maxCount {
		r.warn(f, "%s is %q, which has no number such as #12; it counts as none", f.name(), clipped(text))
		return 0
	}
	return number(n)
}

// statuses reads the list; words in brackets behind a status are dropped.
func (r *reader) statuses() []string {
	var list []string
	for part := range strings.SplitSeq(r.bare(recentStatuses), ",") {
		if part = bare(part); !isNull(part) {
			list = append(list, status(part))
		}
	}
	return list
}

// status returns the first word in lower case. A sign before it says nothing more; one
// alone stands for its word.
func status(text string) string {
	word, rest, _ := strings.Cut(text, " ")
	if slices.Contains(outcomesOf[:], Status(word)) {
		return word
	}
	if sign := firstOutcome(signIs, word); sign != "" {
		if rest = bare(rest); rest != "" && rest[0] != '(' {
			return status(rest)
		}
		return sign
	}
	if strings.EqualFold(text, "pending CI") {
		return string(PendingCI)
	}
	return strings.ToLower(strings.ToValidUTF8(word, "\uFFFD"))
}

// isNull says whether a cell holds nothing: a dash of any kind, or a word for
// it.
func isNull(text string) bool {
	switch text {
	case "", "n/a", "N/A", "none", "None", "null", "(none)":
		return true
	default:
		return isDash(text)
	}
}

// newPull is what the original writes while a pull request has no number yet.
var newPull = lazyregexp.New(`^\(new PR this run, #\d+ was previous\)$`)

// saysNone reports whether a cell holds a word on why there is no value, in one of
// the forms that states have: "— (no run yet)" for any value, "pending CI" for a
// number that CI is waited for, and newPull. Anything else in brackets may be meant
// as a value.
func saysNone(f field, text string) bool {
	switch f { //nolint:exhaustive // the rest is alike
	case pauseReason, completedReason:
		return false
	case pullRequest:
		if newPull().MatchString(text) {
			return true
		}
		fallthrough
	case initialMetric, bestMetric:
		if strings.EqualFold(text, "pending CI") {
			return true
		}
	}
	dash, rest, _ := strings.Cut(text, " ")
	rest = strings.TrimSpace(rest)
	return isDash(dash) && len(rest) > 2 && rest[0] == '(' && strings.IndexByte(rest, ')') == len(rest)-1
}

func isDash(text string) bool { return slices.Contains([]string{"—", "–", "-", "--", "---"}, text) }

var timeLayouts = []string{
	time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05 Z07:00",
	"2006-01-02 15:04:05",
	"2006-01-02T15:04Z07:00", "2006-01-02 15:04Z07:00", "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02",
	"2006-01-02T15:04:05Z0700", "2006-01-02 15:04:05 -0700",
}

var zoneWord = lazyregexp.New(`(?i)\s*\b(UTC|GMT|Z)$`)

// parseTime reads a time to UTC; without a zone it is UTC already.
func parseTime(text string) (time.Time, bool) {
	if len(text) > 64 {
		return time.Time{}, false
	}
	for _, form := range []string{text, strings.ToUpper(text), zoneWord().ReplaceAllString(text, "")} {
		for _, layout := range timeLayouts {
			if at, err := time.Parse(layout, form); err == nil {
				return at.UTC(), true
			}
		}
	}
	return time.Time{}, false
}

func clipped(text string) string {
	const most = 60
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}
