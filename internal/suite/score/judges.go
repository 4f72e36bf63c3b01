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
	answeredBefore, answeredAfter := judged(before.Runs), judged(after.Runs)
	name := plain.Short(before.TaskID, document.MaxShown)
	switch {
	case answeredBefore == 0 && answeredAfter == 0:
		return false
	case answeredBefore == 0 || answeredAfter == 0,
		2*answeredBefore >= len(before.Runs) != (2*answeredAfter >= len(after.Runs)):
		c.hold("a judge on one side only")
		c.note(Reason{
			Kind: JudgeOneSided, Task: before.TaskID,
			Before: fmt.Sprintf("%d/%d", answeredBefore, len(before.Runs)),
			After:  fmt.Sprintf("%d/%d", answeredAfter, len(after.Runs)),
			Text: fmt.Sprintf("%s: the judge answered in %d of %d baseline runs and in %d of %d candidate runs; it "+
				"is left out on both sides, and nothing is promoted", name, answeredBefore, len(before.Runs),
				answeredAfter, len(after.Runs)),
		})
		return true
	case judgeOf(before.Runs) != "" && judgeOf(after.Runs) != "" && judgeOf(before.Runs) != judgeOf(after.Runs):
		c.hold("two judges")
		c.note(Reason{
			Kind: JudgeDiffers, Task: before.TaskID, Before: judgeOf(before.Runs), After: judgeOf(after.Runs),
			Text: fmt.Sprintf("%s: two judges, %s and %s; they are left out, and nothing is promoted", name,
				plain.Short(judgeOf(before.Runs), document.MaxShown),
				plain.Short(judgeOf(after.Runs), document.MaxShown)),
		})
		return true
	case answeredBefore < len(before.Runs) || answeredAfter < len(after.Runs):
		c.note(Reason{
			Kind: JudgeIncomplete, Task: before.TaskID,
			Before: fmt.Sprintf("%d/%d", answeredBefore, len(before.Runs)),
			After:  fmt.Sprintf("%d/%d", answeredAfter, len(after.Runs)),
			Text:   name + ": the judge did not answer in every run; it is left out on both sides",
		})
		return true
	}
	return false
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
