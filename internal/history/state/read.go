package state

import (
	"bytes"
	"fmt"
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

func readMachine(data []byte, found *table) (Machine, []Warning, error) {
	r := reader{data: data, table: found, warnings: found.twice}
	var m Machine
	for f := range fieldCount {
		rows[f].read(&r, f, &m)
	}
	if r.problem != nil {
		return Machine{}, r.warnings, r.problem
	}
	if m.LastRun == nil && m.IterationCount > 0 {
		r.warn(lastRun, "there is no Last Run, though the Iteration Count is %d; it counts as never run", m.IterationCount)
	}
	return m, r.warnings, nil
}

// raw returns the cell as it is written; nil for a null sign or a missing row.
func (r *reader) raw(f field) []byte {
	c := r.table.cells[f]
	if text := bytes.Trim(r.data[c.start:c.end], "`*_ "); !c.there || isNull(text) || saysNone(f, text) {
		return nil
	}
	return r.data[c.start:c.end]
}

// bare returns the cell without code marks and emphasis; nil for null.
func (r *reader) bare(f field) []byte {
	text := bytes.Trim(r.raw(f), "`*_ \t")
	if isNull(text) {
		return nil
	}
	return text
}

func (r *reader) fail(f field, wanted string) {
	if r.problem != nil {
		return
	}
	r.problem = &Problem{
		Line:    int(r.table.cells[f].number),
		Message: fmt.Sprintf("%s is %q, which is not %s; correct the cell, or write — for none", f.name(), clipped(r.raw(f)), wanted),
	}
}

func (r *reader) warn(f field, format string, args ...any) {
	r.warnings = append(r.warnings, Warning{Line: int(r.table.cells[f].number), Message: fmt.Sprintf(format, args...)})
}

func (r *reader) time(f field) *time.Time {
	text := r.bare(f)
	if len(text) == 0 {
		return nil
	}
	at, ok := parseTime(string(text))
	if !ok {
		r.fail(f, "a time such as 2025-01-15T10:30:00Z")
		return nil
	}
	return &at
}

func (r *reader) count(f field) int {
	text := r.bare(f)
	if len(text) == 0 {
		return 0
	}
	n, err := strconv.Atoi(string(text))
	if err != nil || n < 0 || n > maxCount {
		r.fail(f, "a count")
		return 0
	}
	return n
}

func (r *reader) metric(f field) *metric.Value {
	text := r.bare(f)
	if len(text) == 0 {
		return nil
	}
	number, words, more := bytes.Cut(text, []byte(" "))
	value, err := metric.ParseValue(string(number))
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
	text := r.bare(f)
	if len(text) == 0 {
		return false
	}
	var buffer [16]byte
	word, _, _ := bytes.Cut(normal(buffer[:], text), []byte(" "))
	switch string(word) {
	case "true", "yes":
		return true
	case "false", "no":
		return false
	}
	r.fail(f, "`true` or `false`")
	return false
}

func (r *reader) direction() (metric.Direction, bool) {
	text := r.bare(metricDirection)
	if len(text) == 0 {
		return metric.Higher, false
	}
	direction, err := metric.ParseDirection(string(text))
	if err != nil {
		r.fail(metricDirection, "`higher` or `lower`")
	}
	return direction, true
}

// number reads #12, 12, a link or an address. What it cannot read is no number
// and a warning: whose pull request it is, is decided by its branch.
func (r *reader) number(f field) int {
	text := r.raw(f)
	if len(text) == 0 {
		return 0
	}
	digits := text
	if at := bytes.IndexByte(text, '#'); at >= 0 {
		digits = text[at+1:]
	} else if at := bytes.LastIndexByte(text, '/'); at >= 0 {
		digits = text[at+1:]
	}
	digits = bytes.TrimLeft(digits, "`*_ ")
	end := 0
	for end < len(digits) && '0' <= digits[end] && digits[end] <= '9' {
		end++
	}
	n, err := strconv.Atoi(string(digits[:end]))
	if err != nil || n <= 0 || n > maxCount {
		r.warn(f, "%s is %q, which has no number such as #12; it counts as none", f.name(), clipped(text))
		return 0
	}
	return n
}

func (r *reader) prose(f field) string {
	return strings.ToValidUTF8(unescapeCell(r.raw(f)), "\uFFFD")
}

// statuses reads the list; words in brackets behind a status are dropped.
func (r *reader) statuses() []string {
	text := r.bare(recentStatuses)
	if len(text) == 0 {
		return nil
	}
	list := make([]string, 0, MaxStatuses)
	for part := range bytes.SplitSeq(text, []byte(",")) {
		if part = bytes.Trim(part, "`*_ \t"); len(part) > 0 && !isNull(part) {
			list = append(list, status(part))
		}
	}
	return list
}

// status returns the first word in lower case, without allocating for known
// ones. A sign before it says nothing more; one alone stands for its word.
func status(text []byte) string {
	word, rest, _ := bytes.Cut(text, []byte(" "))
	switch string(word) {
	case "accepted":
		return string(Accepted)
	case "rejected":
		return string(Rejected)
	case "error":
		return string(Failed)
	case "pending-ci":
		return string(PendingCI)
	}
	if sign := firstOutcome(signIs, string(word)); sign != "" {
		if rest = bytes.Trim(rest, "`*_ \t"); len(rest) > 0 && rest[0] != '(' {
			return status(rest)
		}
		return sign
	}
	if strings.EqualFold(string(text), "pending CI") {
		return string(PendingCI)
	}
	return strings.ToLower(strings.ToValidUTF8(string(word), "\uFFFD"))
}

// isNull says whether a cell holds nothing: a dash of any kind, or a word for
// it.
func isNull(text []byte) bool {
	switch string(text) {
	case "", "n/a", "N/A", "none", "None", "null", "(none)", "*(none)*", "_none_":
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
func saysNone(f field, text []byte) bool {
	switch f { //nolint:exhaustive // the rest is alike
	case pauseReason, completedReason:
		return false
	case pullRequest:
		if newPull().Match(text) {
			return true
		}
		fallthrough
	case initialMetric, bestMetric:
		if strings.EqualFold(string(text), "pending CI") {
			return true
		}
	}
	dash, rest, more := bytes.Cut(text, []byte(" "))
	if !more || !isDash(dash) {
		return false
	}
	rest = bytes.TrimSpace(rest)
	return len(rest) > 2 && rest[0] == '(' && bytes.IndexByte(rest, ')') == len(rest)-1
}

func isDash(text []byte) bool {
	switch string(text) {
	case "—", "–", "-", "--", "---":
		return true
	}
	return false
}

var timeLayouts = []string{
	time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05 Z07:00", "2006-01-02 15:04:05",
	"2006-01-02T15:04Z07:00", "2006-01-02 15:04Z07:00", "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02",
	"2006-01-02T15:04:05Z0700", "2006-01-02 15:04:05 -0700",
}

var zoneWord = lazyregexp.New(`(?i)\s*\b(UTC|GMT|Z)$`)

// parseTime reads a time to UTC; without a zone it is UTC already.
func parseTime(text string) (time.Time, bool) {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at.UTC(), true
	}
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

func clipped(text []byte) string {
	const most = 60
	if len(text) > most {
		return strings.ToValidUTF8(string(text[:most]), "") + "…"
	}
	return strings.ToValidUTF8(string(text), "\uFFFD")
}
