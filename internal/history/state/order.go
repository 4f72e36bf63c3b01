package state

import (
	"slices"
	"strings"
)

// OldestFirst returns the statuses of a state file with the newest last. Other
// tools write them the other way round: the Iteration History of the file, whose
// newest entry is known by its number, shows which way it is. Without a history
// to compare with they stay as they are.
func OldestFirst(statuses []string, data []byte) []string {
	d := &Doc{data: data}
	history, ok := d.find(History)
	if !ok || len(statuses) < 2 {
		return statuses
	}
	list, _ := d.blocks(history)
	var entries []block
	for _, b := range list {
		if b.kind == entryBlock && !b.baseline {
			entries = append(entries, b)
		}
	}
	slices.SortStableFunc(entries, func(a, b block) int { return b.last - a.last })
	var newest []string
	for _, b := range entries {
		newest = append(newest, entryStatus(string(d.data[b.start:b.end])))
	}
	reversed := slices.Clone(statuses)
	slices.Reverse(reversed)
	if agreement(statuses, newest) > agreement(reversed, newest) {
		return reversed
	}
	return statuses
}

// entryStatus is the outcome of an entry in the words of Recent Statuses; "" when
// it does not say.
func entryStatus(text string) string {
	switch r := readEntry(1, false, text); {
	case r.accepted > 0:
		return string(Accepted)
	case r.rejected > 0:
		return string(Rejected)
	case r.fail > 0:
		return string(Failed)
	default:
		return ""
	}
}

// agreement is how many statuses, the newest first, are those of the entries up
// to the first that differs.
func agreement(statuses, entries []string) int {
	for i := range min(len(statuses), len(entries)) {
		if !strings.EqualFold(statuses[i], entries[i]) && entries[i] != "" {
			return i
		}
	}
	return min(len(statuses), len(entries))
}
