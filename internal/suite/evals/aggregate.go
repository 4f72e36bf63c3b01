package evals

import (
	"fmt"
	"slices"
)

// Aggregate puts several runs of the cases of one suite, in its order, into one
// score for each case: passed and total are sums over the runs, so that the pass
// rate is their mean, and what failed in some runs says in how many. A case
// counts 0 as a whole only where it did in every run. One run stays as it is.
func Aggregate(runs ...[]CaseScore) []CaseScore {
	if len(runs) == 0 {
		return nil
	}
	if len(runs) == 1 {
		return runs[0]
	}
	var all []CaseScore
	for i := range runs[0] {
		var same []CaseScore
		for _, run := range runs {
			if i < len(run) {
				same = append(same, run[i])
			}
		}
		all = append(all, aggregateCase(same))
	}
	return all
}

// aggregateCase puts the runs of one case into one. What failed is told with how often,
// and with what was seen first.
func aggregateCase(runs []CaseScore) CaseScore {
	sum := CaseScore{ID: runs[0].ID, Runs: runs}
	var times []int // of each failure
	fail := func(g Graded) {
		i := slices.IndexFunc(sum.Failed, func(o Graded) bool { return o.Text == g.Text && o.Source == g.Source })
		if i < 0 {
			i, sum.Failed, times = len(times), append(sum.Failed, g), append(times, 0)
		}
		times[i]++
	}
	broken := 0
	for _, run := range runs {
		sum.Total, sum.Gradings = sum.Total+run.Total, append(sum.Gradings, run.Gradings...)
		if run.Problem != "" {
			broken++
			fail(Graded{Text: "the whole case", Evidence: run.Problem})
			continue
		}
		sum.Passed += run.Passed
		for _, failed := range run.Failed {
			fail(failed)
		}
		sum.Unanswered, sum.Extra = joined(sum.Unanswered, run.Unanswered), joined(sum.Extra, run.Extra)
	}
	if broken == len(runs) {
		sum.Failed, sum.Problem = nil, fmt.Sprintf("in all %d runs: %s", broken, runs[0].Problem)
	}
	for i := range sum.Failed {
		sum.Failed[i].Evidence = fmt.Sprintf("in %d of %d runs: %s", times[i], len(runs), sum.Failed[i].Evidence)
	}
	return sum
}

// joined adds the texts that are not there yet.
func joined(all, more []string) []string {
	for _, text := range more {
		if !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}
