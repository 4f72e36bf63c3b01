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
	m := Meaning{
		Script: p.Script, Setup: p.Setup, Metric: p.Metric, Direction: p.Direction.String(),
		Kind: string(p.Evaluation), Range: p.Range, Guardrails: p.Guardrails, More: map[string]any{},
	}
	if p.Evaluation != Metric {
		m.Suite, m.Judge = p.Tasks+p.Skill+" "+p.Evals, p.Judge+" "+p.JudgeModel
		m.Executor, m.Thresholds = p.Executor+" "+p.WorkerCommand(), &p.Thresholds
	}
	if p.Start != "" {
		m.More["start"] = p.Start
	}
	// Another mirror may serve other versions. The files' content is not part of it,
	// since it may be a login that is renewed.
	if len(p.PassConfig) > 0 {
		m.More["PassConfig"] = p.PassConfig
	}
	return m
}
