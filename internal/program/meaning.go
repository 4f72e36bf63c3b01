package program

// Meaning is what makes two numbers of a program comparable: the values of all
// keys that change what a number means, and the evaluation script. Its JSON is
// hashed into every event of the ledger: names, order and omitted fields stay
// as they are, and a key that is added later goes into More.
type Meaning struct {
	Script, Setup, Metric, Direction, Kind string
	Range                                  *Range
	Guardrails                             []Guardrail

	// Of suites alone.
	Suite, Judge, Executor string      `json:",omitempty"`
	Thresholds             *Thresholds `json:",omitempty"`

	More map[string]any `json:",omitempty"`
}

// Meaning returns what the program's numbers mean, as its keys say.
func (p *Program) Meaning() Meaning {
	m := Meaning{Script: p.Script}
	for _, e := range entries {
		if e.means != nil {
			e.means(p, &m)
		}
	}
	return m
}

// sameNumber is the meaning of a key that leaves it to others.
var sameNumber func(*Program, *Meaning)

func suiteMeaning(p *Program, m *Meaning) {
	if p.Evaluation != Metric {
		m.Suite = p.Tasks + p.Skill + " " + p.Evals
	}
}

func startMeaning(p *Program, m *Meaning) {
	if p.Start != "" {
		m.More = map[string]any{"start": p.Start}
	}
}

func judgeMeaning(p *Program, m *Meaning) {
	if p.Evaluation != Metric {
		m.Judge = p.Judge + " " + p.JudgeModel
	}
}

func executorMeaning(p *Program, m *Meaning) {
	if p.Evaluation != Metric {
		m.Executor = p.Executor + " " + p.WorkerCommand()
	}
}

func thresholdsMeaning(p *Program, m *Meaning) {
	if p.Evaluation != Metric {
		m.Thresholds = &p.Thresholds
	}
}
