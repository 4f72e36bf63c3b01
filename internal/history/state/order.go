package state

import (
	"slices"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/lazyregexp"
)

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
