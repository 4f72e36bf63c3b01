package render

import (
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/suite/tasks"
)

// told is what there is to say of a run of a task, with links to its files.
type told struct{ text, links string }

// perRun says each text once, with the runs that have it and the links of the first of them.
func perRun(name string, s tasks.Score, of func(tasks.Run) []told) (list []string) {
	in := map[string][]string{}
	var all []told
	for k, run := range s.Runs {
		for _, one := range of(run) {
			if in[one.text] == nil {
				all = append(all, one)
			}
			in[one.text] = append(in[one.text], strconv.Itoa(k+1))
		}
	}
	for _, one := range all {
		which, runs := "", in[one.text]
		switch {
		case len(s.Runs) == 1:
		case len(runs) == len(s.Runs):
			which = " (every run)"
		case len(runs) == 1:
			which = " (run " + runs[0] + ")"
		default:
			which = " (runs " + strings.Join(runs, ", ") + ")"
		}
		list = append(list, name+which+": "+one.text+one.links)
	}
	return list
}

// failures says, a line each, what failed in which runs and why.
func failures(o tasks.SuiteOutcome, f form) (list []string) {
	for _, s := range o.Scores {
		list = append(list, perRun(f.text(s.TaskID, maxLabel), s, f.failures)...)
	}
	return atMost(list, maxListed)
}

// failures are those of a run; the last has the links to its files.
func (f form) failures(run tasks.Run) (list []told) {
	for _, line := range run.Failed() {
		list = append(list, told{text: f.text(line, 2*maxLine)})
	}
	for _, file := range [][2]string{{"transcript", run.Transcript}, {"diff", run.Diff}} {
		if len(list) > 0 && file[1] != "" {
			list[len(list)-1].links += "; " + f.link(file[0], file[1])
		}
	}
	return list
}

// rationales lists what the judge said of each task, the baseline's before the
// candidate's.
func rationales(before, after tasks.SuiteOutcome, f form) (list []string) {
	of := func(run tasks.Run) []told {
		if run.Judge == nil || run.Judge.Rationale == "" {
			return nil
		}
		return []told{{text: rounded(run.Judge.Score.String()) + " — " + f.text(run.Judge.Rationale, maxLine)}}
	}
	for _, task := range after.Scores {
		for i, side := range []tasks.SuiteOutcome{before, after} {
			for _, s := range side.Scores {
				if name := f.text(s.TaskID, maxLabel); s.TaskID == task.TaskID {
					list = append(list, perRun(name+", "+tasks.Sides[i], s, of)...)
				}
			}
		}
	}
	return atMost(list, f.said)
}
