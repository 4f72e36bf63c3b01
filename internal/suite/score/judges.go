package score

import (
	"fmt"

	"github.com/org/autoloop/internal/document"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/suite/format"
)

// judge decides whether the judge of a task counts. It must have answered in
// every run of both sides, as the same model; when it answered in most runs of
// one side only, or as another model, the verdict is at most neutral too.
func (c *comparer) judge(before, after format.Score) (drop bool) {
	if len(before.Runs) == 0 || len(after.Runs) == 0 {
		return false
	}
	answered, made := [2]int{judged(before.Runs), judged(after.Runs)}, [2]int{len(before.Runs), len(after.Runs)}
	ofRuns := func(side int) string { return fmt.Sprintf("%d/%d", answered[side], made[side]) }
	mostly := func(side int) bool { return 2*answered[side] >= made[side] }
	was, is := judgeOf(before.Runs), judgeOf(after.Runs)
	switch {
	case answered == [2]int{}:
		return false
	case answered[0] == 0 || answered[1] == 0, mostly(0) != mostly(1):
		c.hold("a judge on one side only")
		c.note(reasonOf(JudgeOneSided, before.TaskID, "the judge answered in %d of %d baseline runs and in %d of %d "+
			"candidate runs; it is left out on both sides, and nothing is promoted", answered[0], made[0], answered[1],
			made[1]).values(ofRuns(0), ofRuns(1)))
	case was != "" && is != "" && was != is:
		c.hold("two judges")
		c.note(reasonOf(JudgeDiffers, before.TaskID, "two judges, %s and %s; they are left out, and nothing is promoted",
			plain.Short(was, document.MaxShown), plain.Short(is, document.MaxShown)).values(was, is))
	case answered != made:
		c.note(reasonOf(JudgeIncomplete, before.TaskID,
			"the judge did not answer in every run; it is left out on both sides").values(ofRuns(0), ofRuns(1)))
	default:
		return false
	}
	return true
}

func judged(runs []format.Run) int {
	count := 0
	for _, run := range runs {
		if run.Judge != nil {
			count++
		}
	}
	return count
}

// judgeOf names the models that judged, "" when one is not known.
func judgeOf(runs []format.Run) string {
	name, several := "", false
	for _, run := range runs {
		switch {
		case run.Judge == nil:
		case run.Judge.Model == "":
			return ""
		case name == "":
			name = run.Judge.Model
		case name != run.Judge.Model:
			several = true
		}
	}
	if several {
		return "several models"
	}
	return name
}
