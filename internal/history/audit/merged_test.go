package audit_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/audit"
	"github.com/org/autoloop/internal/metric"
)

// TestWhatWasMergedIsNotMissed has a pull request that was squashed while another
// iteration ran, whose commit is replayed: it has to be there, by whatever name.
func TestWhatWasMergedIsNotMissed(t *testing.T) {
	t.Parallel()
	nine, eight := metric.FromInt(9), metric.FromInt(8)
	kept := func(iteration int, commit string, best *metric.Value) *history.Decided {
		return &history.Decided{
			Head: history.Head{Iteration: iteration}, Outcome: history.Accepted, Commit: commit,
			Metric: best, Best: best,
		}
	}
	for name, c := range map[string]struct {
		merged  string
		early   bool // it was merged before the second decision, whose agent had begun
		commits []audit.Commit
		missed  []string
	}{
		"nothing was merged": {"", false, []audit.Commit{{ID: "two", Iteration: "2", Metric: "8"}}, []string{"one"}},
		"replayed":           {"one", false, []audit.Commit{{ID: "new", Iteration: "2", Metric: "8"}}, nil},
		"not replayed":       {"one", false, nil, []string{"two"}},
		"with another number": {
			"one", false,
			[]audit.Commit{{ID: "new", Iteration: "2", Metric: "7"}},
			[]string{"two"},
		},
		"all of it was merged":  {"two", false, nil, nil},
		"merged from elsewhere": {"three", false, nil, []string{"one", "two"}},
		"before, replayed":      {"one", true, []audit.Commit{{ID: "new", Iteration: "2", Metric: "8"}}, nil},
		"before, not replayed":  {"one", true, nil, []string{"two"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			merged := []history.Event{&history.Set{Key: history.PullEnded, Value: "2", Commit: c.merged}}
			second := kept(2, "two", &eight)
			second.Parent = "one"
			events := []history.Event{kept(1, "one", &nine)}
			switch {
			case c.early:
				events = append(append(events, merged...), second)
			case c.merged != "":
				events = append(append(events, second), merged...)
			default:
				events = append(events, second)
			}
			events = append(events,
				&history.Measured{Role: history.Baseline, Metric: &nine, Samples: []metric.Value{nine}},
				&history.Measured{Role: history.Incumbent, Metric: &eight, Samples: []metric.Value{eight}},
			)
			var missed []string
			for _, finding := range audit.Of(audit.Records{Events: events, Commits: c.commits}, nil).Findings {
				if rest, is := strings.CutPrefix(finding.Message, "the kept commit "); is {
					commit, _, _ := strings.Cut(rest, " ")
					missed = append(missed, commit)
				}
			}
			assert.Equal(t, c.missed, missed)
		})
	}
}
