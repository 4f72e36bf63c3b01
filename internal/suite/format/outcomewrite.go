package format

import (
	"encoding/json"

	"github.com/org/autoloop/internal/metric"
)

// MarshalJSON writes the form that ParseOutcome reads: `scores` for one run of
// the suite, `runs` for several. Composites that are to be computed are left
// out. Run k has the tasks that were run at least k times.
func (o SuiteOutcome) MarshalJSON() ([]byte, error) {
	written := writtenOutcome{ConfigLabel: o.ConfigLabel, Stochastic: o.Stochastic}
	if o.Runs() <= 1 {
		written.Scores = new(o.nth(0))
		return json.Marshal(written)
	}
	for k := range o.Runs() {
		written.Runs = append(written.Runs, writtenRun{o.nth(k)})
	}
	return json.Marshal(written)
}

type writtenOutcome struct {
	ConfigLabel string          `json:"configLabel"`
	Stochastic  *bool           `json:"stochastic,omitempty"`
	Scores      *[]writtenScore `json:"scores,omitempty"`
	Runs        []writtenRun    `json:"runs,omitempty"`
}

type writtenRun struct {
	Scores []writtenScore `json:"scores"`
}

type writtenScore struct {
	TaskID      string        `json:"taskId"`
	JudgeWeight *metric.Value `json:"judgeWeight,omitempty"`
	Run
}

func (o SuiteOutcome) nth(k int) []writtenScore {
	list := []writtenScore{}
	for _, s := range o.Scores {
		if k < len(s.Runs) {
			list = append(list, writtenScore{s.TaskID, s.JudgeWeight, s.Runs[k]})
		}
	}
	return list
}
