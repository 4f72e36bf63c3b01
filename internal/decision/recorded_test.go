package decision_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/metric"
)

// recordedTrial is a line of testdata/trials.jsonl: what a trial was held against, what
// was measured, run by run, and what was decided. Its words are those of no package, so
// that the types may change and the decisions may not. The trials are of iterations
// that the scenarios of this repository ran, and of simulated machines with every kind
// of noise. The file is never written again: a rule that decides one of them otherwise
// is another rule.
type recordedTrial struct {
	Name     string           `json:"name"`
	Standard recordedStandard `json:"standard"`
	// Order has a letter for each run: i for the incumbent, c for the candidate, e for
	// emptied and g for garbled files; a small letter is a warm-up.
	Order string `json:"order"`
	// Metrics are the numbers in that order, null for none; Rejected and Numbers have,
	// by the run's place, why a run gave no number and what else it printed.
	Metrics  []*metric.Value                    `json:"metrics"`
	Rejected map[string]string                  `json:"rejected,omitempty"`
	Numbers  map[string]map[string]metric.Value `json:"numbers,omitempty"`
	Decision recordedDecision                   `json:"decision"`
}

type recordedStandard struct {
	Regime     string       `json:"regime"`
	Pairs      int          `json:"pairs"`
	MaxPairs   int          `json:"max_pairs,omitempty"`
	Confidence float64      `json:"confidence,omitempty"`
	MinGain    metric.Value `json:"min_gain"`
	// Percent says that MinGain is a percentage.
	Percent       bool                      `json:"percent,omitempty"`
	Low           *metric.Value             `json:"low,omitempty"`
	High          *metric.Value             `json:"high,omitempty"`
	Guardrails    []recordedGuardrail       `json:"guardrails,omitempty"`
	KeepCases     bool                      `json:"keep_cases,omitempty"`
	CheckTooGood  bool                      `json:"check_too_good,omitempty"`
	Seed          string                    `json:"seed"`
	Direction     string                    `json:"direction"`
	Best          *metric.Value             `json:"best,omitempty"`
	Target        *metric.Value             `json:"target,omitempty"`
	Initial       map[string][]metric.Value `json:"initial,omitempty"`
	Cases         map[string][]metric.Value `json:"cases,omitempty"`
	Gains         []metric.Value            `json:"gains,omitempty"`
	LeavesNothing bool                      `json:"leaves_nothing,omitempty"`
}

type recordedGuardrail struct {
	Metric    string       `json:"metric"`
	Direction string       `json:"direction"`
	Allowance metric.Value `json:"allowance"`
	Percent   bool         `json:"percent,omitempty"`
}

type recordedDecision struct {
	Verdict      string             `json:"verdict"`
	Why          string             `json:"why"`
	Metric       *metric.Value      `json:"metric,omitempty"`
	Previous     *metric.Value      `json:"previous,omitempty"`
	Best         *metric.Value      `json:"best,omitempty"`
	Regime       string             `json:"regime"`
	Inconclusive bool               `json:"inconclusive,omitempty"`
	TargetMet    bool               `json:"target_met,omitempty"`
	Flagged      bool               `json:"flagged,omitempty"`
	Fault        bool               `json:"fault,omitempty"`
	Lost         []string           `json:"lost,omitempty"`
	Evidence     []recordedEvidence `json:"evidence,omitempty"`
}

type recordedEvidence struct {
	Stage     string       `json:"stage"`
	Pairs     int          `json:"pairs"`
	P         string       `json:"p"` // four significant digits
	Incumbent metric.Value `json:"incumbent"`
	Candidate metric.Value `json:"candidate"`
}

// whys are kinds of reasons in a word.
var whys = map[decision.Why]string{
	decision.CasesForbidden: "case-lost", decision.IgnoresEmptied: "independent",
	decision.IgnoresGarbled:   "independent",
	decision.GuardrailMissing: "guardrail-missing", decision.GuardrailNew: "guardrail-new",
	decision.GuardrailBroken: "guardrail",
	decision.NotScored:       "unscored", decision.NoNumber: "unscored", decision.Implausible: "implausible",
	decision.TooSmall: "too-small",
	decision.First:    "first", decision.Tie: "tie", decision.Worse: "worse", decision.Better: "better",
	decision.EarlyNotBetter: "not-better", decision.PairsNotBetter: "not-better",
	decision.PairsInconclusive: "inconclusive",
	decision.PairsNoGain:       "no-gain", decision.PairsWorse: "worse", decision.PairsBetter: "better",
}

func whyOf(reason decision.Reason) string {
	if reason.Is(decision.NotConfirmed) {
		return "unconfirmed-" + whyOf(reason.Because[0])
	}
	return whys[reason.Kind]
}

func (s recordedStandard) standard() decision.Standard {
	rule := decision.Rule{
		Version: decision.RuleVersion, Regime: decision.Regime(s.Regime), Pairs: s.Pairs, MaxPairs: s.MaxPairs,
		Confidence:     s.Confidence,
		MinImprovement: decision.Allowance{Value: s.MinGain, Percent: s.Percent},
		Low:            s.Low, High: s.High, NoCaseRegression: s.KeepCases, CheckTooGood: s.CheckTooGood,
	}
	for _, g := range s.Guardrails {
		rule.Guardrails = append(rule.Guardrails, decision.Guardrail{
			Metric: g.Metric, Direction: metric.Direction(g.Direction),
			MaxRegression: decision.Allowance{Value: g.Allowance, Percent: g.Percent},
		})
	}
	return decision.Standard{
		Rule: rule, Seed: s.Seed, Direction: metric.Direction(s.Direction), Best: s.Best,
		Initial: s.Initial, Cases: s.Cases, Gains: s.Gains, LeavesNothing: s.LeavesNothing,
	}
}

func recordedOf(trial *decision.Trial, s recordedStandard) recordedDecision {
	d := trial.Decision()
	r := recordedDecision{
		Verdict: string(d.Verdict), Why: whyOf(d.Reasons[0]), Metric: d.Metric, Previous: d.Previous, Best: d.Best,
		Regime: string(trial.Regime()), Inconclusive: d.Inconclusive,
		TargetMet: d.Best != nil && metric.Direction(s.Direction).TargetMet(*d.Best, s.Target), Flagged: len(d.Warning) > 0, Fault: d.Fault != nil, Lost: d.Lost,
	}
	for _, e := range d.Evidence {
		r.Evidence = append(r.Evidence, recordedEvidence{
			Stage: string(e.Stage), Pairs: e.Pairs, P: strconv.FormatFloat(e.P, 'g', 4, 64), Incumbent: e.Incumbent,
			Candidate: e.Candidate,
		})
	}
	return r
}

func letterOf(step decision.Step) string {
	letter := strings.ToUpper(string(step.Side[:1]))
	if step.WarmUp {
		return strings.ToLower(letter)
	}
	return letter
}

func recordedTrials(t testing.TB) []recordedTrial {
	file, err := os.Open(filepath.Join("testdata", "trials.jsonl"))
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	var trials []recordedTrial
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var trial recordedTrial
		require.NoError(t, json.Unmarshal(lines.Bytes(), &trial))
		trials = append(trials, trial)
	}
	return trials
}

func TestRecordedTrialsAreDecidedAlike(t *testing.T) {
	t.Parallel()
	trials := recordedTrials(t)
	require.Len(t, trials, 300)
	for _, recorded := range trials {
		t.Run(recorded.Name, func(t *testing.T) {
			t.Parallel()
			trial := decision.NewTrial(recorded.Standard.standard())
			for i, letter := range recorded.Order {
				step, more := trial.Next()
				require.True(t, more, "decided after %d of %d runs", i, len(recorded.Order))
				require.Equal(t, string(letter), letterOf(step), "run %d", i)
				place := strconv.Itoa(i)
				trial.Add(step, metric.Measurement{
					Metric: recorded.Metrics[i], RejectedReason: recorded.Rejected[place],
					Numbers: recorded.Numbers[place],
				})
			}
			_, more := trial.Next()
			require.False(t, more, "not decided after %d runs", len(recorded.Order))
			want, err := json.Marshal(recorded.Decision)
			require.NoError(t, err)
			have, err := json.Marshal(recordedOf(trial, recorded.Standard))
			require.NoError(t, err)
			assert.Equal(t, string(want), string(have))
		})
	}
}
