package state

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
)

// ParseMachine reads the Machine State table alone, and nothing behind it. The
// error is a *Problem: the file has no such table, or a value in it cannot be
// read. Such a program must not run; it is not one that never ran.
func ParseMachine(data []byte) (m Machine, warnings []Warning, err error) {
	found, problem := findTable(data)
	if problem != nil {
		return m, nil, problem
	}
	m.Direction, warnings = metric.Higher, found.twice
	for f := range fieldCount {
		text := found.text(data, f)
		if text == "" {
			continue
		}
		line := found.cells[f].row.number
		wanted, warning := f.read(text, &m)
		if wanted != "" {
			return Machine{}, warnings, &Problem{line, fmt.Sprintf(
				"%s is %q, which is not %s; correct the cell, or write — for none", f.name(), clipped(text), wanted)}
		}
		if warning != "" {
			warnings = append(warnings, Warning{line, f.name() + " is " + warning})
		}
	}
	if m.LastRun == nil && m.IterationCount > 0 {
		warnings = append(warnings, Warning{found.cells[lastRun].row.number, fmt.Sprintf(
			"there is no Last Run, though the Iteration Count is %d; it counts as never run", m.IterationCount)})
	}
	return m, warnings, nil
}

// text is the cell of a row as it is written; "" for a null sign or a missing row.
func (t *table) text(data []byte, f field) string {
	text := string(data[t.cells[f].start:t.cells[f].end])
	if f.saysNone(bare(text)) {
		return ""
	}
	return text
}

// bare is a cell without code marks and emphasis.
func bare(text string) string { return strings.Trim(text, "`*_ \t") }

// read reads what a cell says; wanted is what it had to be when it cannot be read.
func (f field) read(raw string, m *Machine) (wanted, warning string) {
	var err error
	text := bare(raw)
	switch value := f.of(m).(type) {
	case **time.Time:
		at, ok := ParseTime(text)
		if *value = &at; !ok {
			return "a time such as 2025-01-15T10:30:00Z", ""
		}
	case *int:
		if *value, err = strconv.Atoi(text); err != nil || *value < 0 || *value > maxCount {
			return "a count", ""
		}
	case *number:
		n, ok := numberIn(raw)
		if *value = number(n); !ok {
			*value, warning = 0, fmt.Sprintf("%q, which has no number such as #12; it counts as none", clipped(raw))
		}
	case **metric.Value:
		first, words, more := strings.Cut(text, " ")
		parsed, err := metric.ParseValue(first)
		if *value = &parsed; err != nil {
			return "a number", ""
		}
		if more {
			warning = fmt.Sprintf("read as %s; the words %q after it are ignored", parsed, clipped(words))
		}
	case *metric.Direction:
		m.DirectionGiven = true
		if *value, err = metric.ParseDirection(text); err != nil {
			return "`higher` or `lower`", ""
		}
	case *bool:
		word, _, _ := strings.Cut(words([]byte(text)), " ")
		if *value = word == "true" || word == "yes"; !*value && word != "false" && word != "no" {
			return "`true` or `false`", ""
		}
	case *string:
		*value = text
	case *prose:
		text = strings.NewReplacer(`\\`, `\`, `\|`, `|`).Replace(raw)
		*value = prose(strings.ToValidUTF8(text, "\uFFFD"))
	case *[]string:
		*value = statuses(text)
	}
	return "", warning
}

// numberIn reads #12, 12, a link or an address. What it cannot read is no number
// and a warning: whose pull request it is, is decided by its branch.
func numberIn(text string) (n int, ok bool) {
	digits := text[strings.LastIndexByte(text, '/')+1:]
	if _, after, found := strings.Cut(text, "#"); found {
		digits = after
	}
	digits = strings.TrimLeft(digits, "`*_ ")
	n, err := strconv.Atoi(digits[:len(digits)-len(strings.TrimLeft(digits, "0123456789"))])
	return n, err == nil && n > 0 && n <= maxCount
}

// statuses reads the list; words in brackets behind a status are dropped.
func statuses(text string) (list []string) {
	for part := range strings.SplitSeq(text, ",") {
		if part = bare(part); !isNull().MatchString(part) {
			list = append(list, status(part))
		}
	}
	return list
}

// status returns the first word in lower case. A sign before it says nothing more; one
// alone stands for its word.
func status(text string) string {
	word, rest, _ := strings.Cut(text, " ")
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

var (
	// isNull is a cell that holds nothing: a dash of any kind, or a word for it.
	isNull = lazyregexp.New(`^(?:|n/a|N/A|[nN]one|null|\(none\)|—|–|-{1,3})$`)
	// isWhy is a word on why there is no value, as in "— (no run yet)". Anything else in brackets may
	// be meant as a value.
	isWhy = lazyregexp.New(`^(?:—|–|-{1,3}) +\([^)]+\)$`)
	// isPending is what a number is while CI is waited for.
	isPending = lazyregexp.New(`(?i)^pending ci$`)
	// isNewPull is what the original writes while a pull request has no number yet.
	isNewPull = lazyregexp.New(`^\(new PR this run, #\d+ was previous\)$`)
)

// saysNone reports whether a cell holds nothing, or a word on why there is no value, in one of
// the forms that states have.
func (f field) saysNone(text string) bool {
	forms := []lazyregexp.Regexp{isNull, isWhy}
	switch f { //nolint:exhaustive // the rest is alike
	case pauseReason, completedReason:
		forms = forms[:1]
	case pullRequest:
		forms = append(forms, isPending, isNewPull)
	case initialMetric, bestMetric:
		forms = append(forms, isPending)
	}
	return slices.ContainsFunc(forms, func(form lazyregexp.Regexp) bool { return form().MatchString(text) })
}

var timeLayouts = []string{
	time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05 Z07:00",
	"2006-01-02 15:04:05",
	"2006-01-02T15:04Z07:00", "2006-01-02 15:04Z07:00", "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02",
	"2006-01-02T15:04:05Z0700", "2006-01-02 15:04:05 -0700",
}

var zoneWord = lazyregexp.New(`(?i)\s*\b(UTC|GMT|Z)$`)

// ParseTime reads a time to UTC; without a zone it is UTC already.
func ParseTime(text string) (time.Time, bool) {
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

func clipped(text string) string { return plain.Short(text, 60) }

// OldestFirst returns Recent Statuses of a state without a ledger, the newest
// last. Other tools write them the other way round: the Iteration History of the
// file, whose newest entry is known by its number, shows which way it is. Without
// a history that tells, known is false and the statuses stay as they are.
func OldestFirst(data []byte) (oldest []string, known bool) {
	found, problem := findTable(data)
	if problem != nil {
		return nil, false
	}
	written := statuses(bare(found.text(data, recentStatuses)))
	turned := slices.Clone(written)
	slices.Reverse(turned)
	outcomes := (&Doc{data: data}).outcomes()
	asWritten, asTurned := agreement(turned, outcomes), agreement(written, outcomes)
	if oldest = written; asTurned > asWritten {
		oldest = turned
	}
	return lastStatuses(oldest), asWritten != asTurned || slices.Equal(written, turned)
}

// The ways in which entries begin: headings, lines that begin with a mark, and
// rows of a table. The first way that a history has is the one that counts.
var (
	entryForms = []lazyregexp.Regexp{
		lazyregexp.New(`(?im)^ {0,3}#{1,6}[ \t]` + beforeNumber),
		lazyregexp.New(`(?im)^[ \t]*(?:[-+>]|\*|_|\d+[.)])` + beforeNumber),
		lazyregexp.New(`(?im)^[ \t]*\|` + beforeNumber),
		lazyregexp.New(`(?im)^[ \t]*\|[ \t]*()#?(\d{1,9})()[ \t]*\|`),
	}
	statusRow = lazyregexp.New(`(?im)^\s*(?:[-*|]\s*)?\**status\**\s*[:|]\**:?\s*(.*)$`)
	outcomeIs = lazyregexp.New(
		`(?i)(✅|🟢|\baccepted\b)|(❌|🔴|\b(?:un|not[ -])accepted\b|\brejected\b|\binconclusive\b)|(⚠|\berror(?:ed)?\b)|(⏳|🔄|\bpending[ -]ci\b)`,
	)
	signIs     = lazyregexp.New(`(✅|🟢)|(❌|🔴)|(⚠)|(⏳|🔄)`)
	outcomesOf = [...]Status{Accepted, Rejected, Failed, PendingCI}
)

// beforeNumber is what leads to an entry's number: dates, signs and emphasis, no
// other words.
const beforeNumber = `(?:[^\pL\n]|\d[TZ]|UTC){0,60}iter(?:ation)?(s?)[ \t*_#]*(\d{1,9})(?:[ \t]*[-–—][ \t]*#?(\d{1,9}))?`

// outcomes are those of the entries of the history, the newest first; "" for what
// an entry does not say. A range has one for each of its iterations.
func (d *Doc) outcomes() []string {
	history, ok := d.sections()[History]
	if !ok {
		return nil
	}
	text := strings.ReplaceAll(string(d.data[history.bodyStart:history.bodyEnd]), "\r\n", "\n")
	type entry struct {
		last, count int
		outcome     string
	}
	var entries []entry
	for _, form := range entryForms {
		starts := append(form().FindAllStringSubmatchIndex(text, -1), []int{len(text)})
		for i, at := range starts[:len(starts)-1] {
			own := text[at[0]:starts[i+1][0]]
			last, _ := strconv.Atoi(text[at[4]:at[5]])
			e := entry{last, 1, entryStatus(own)}
			if several := at[3] > at[2]; several && at[6] >= 0 {
				until, _ := strconv.Atoi(text[at[6]:at[7]])
				e.last, e.count = max(until, last), min(max(until-last+1, 1), MaxStatuses)
				if len(signIs().FindAllString(own, 2)) > 1 {
					e.outcome = "" // of some this, of others that
				}
			}
			first, _, _ := strings.Cut(strings.ToLower(own), "\n")
			if e.outcome != "" || !strings.Contains(first, "baseline") {
				entries = append(entries, e)
			}
		}
		if len(entries) > 0 {
			break
		}
	}
	slices.SortStableFunc(entries, func(a, b entry) int { return b.last - a.last })
	var newest []string
	for _, e := range entries[:min(len(entries), 10*MaxStatuses)] {
		newest = append(newest, slices.Repeat([]string{e.outcome}, e.count)...)
	}
	return newest
}

// entryStatus is the outcome of an entry in the words of Recent Statuses; "" when
// it does not say. A line for the status decides, then the sign in the first line,
// then what is said first.
func entryStatus(text string) string {
	if found := statusRow().FindStringSubmatch(text); found != nil {
		return firstOutcome(outcomeIs, found[1])
	}
	first, rest, _ := strings.Cut(text, "\n")
	for _, look := range []struct {
		form lazyregexp.Regexp
		text string
	}{{signIs, first}, {outcomeIs, first}, {outcomeIs, rest}} {
		if outcome := firstOutcome(look.form, look.text); outcome != "" {
			return outcome
		}
	}
	return ""
}

// firstOutcome is the outcome that a text says first; "" when it says none.
func firstOutcome(form lazyregexp.Regexp, text string) string {
	for i, said := range form().FindStringSubmatch(text) {
		if i > 0 && said != "" {
			return string(outcomesOf[i-1])
		}
	}
	return ""
}

// agreement is how many statuses, the newest first, are those of the entries up
// to the first that differs. Entries have one word for all that was not kept.
func agreement(statuses, entries []string) int {
	for i, status := range statuses[:min(len(statuses), len(entries))] {
		if slices.Contains([]Status{Inconclusive, CIFixExhausted}, Status(status)) {
			status = string(Rejected)
		}
		if status != entries[i] && entries[i] != "" {
			return i
		}
	}
	return min(len(statuses), len(entries))
}
