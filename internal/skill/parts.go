package skill

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"os"

	"github.com/org/autoloop/internal/document"
	"github.com/org/autoloop/internal/schedule"
	"github.com/org/autoloop/internal/shard"
	"github.com/org/autoloop/internal/skill/evalrun"
	"github.com/org/autoloop/internal/skill/evals"
	"github.com/org/autoloop/internal/skill/workspace"
)

// The names of a skill's suites in a part.
const (
	suiteEvals    = "evals"
	suiteTriggers = "triggers"
	suiteAnswers  = "answers"
)

// partOf limits a suite to the cases of a shard, and lists the ids of all.
func partOf(s *evalrun.Skill, wanted schedule.Shard) (part *evalrun.Skill, order []string) {
	for _, c := range s.Evals.Cases {
		order = append(order, c.ID)
	}
	mine := *s
	mine.Evals.Cases = schedule.Items(s.Evals.Cases, wanted)
	return &mine, order
}

// MergeEvaluated is what the parts come to together: the cases of each suite in
// its order, and the means over all of them.
func MergeEvaluated(parts []shard.Part) (Evaluated, error) {
	all := make([]Evaluated, len(parts))
	for i, part := range parts {
		if err := json.Unmarshal(part.Skill, &all[i]); err != nil {
			return Evaluated{}, fmt.Errorf("the figures of part %d/%d: %s", part.Index, part.Of, document.JSONError(err))
		}
	}
	whole := Evaluated{Name: all[0].Name, Notes: all[0].Notes, Feedback: map[string]string{}}
	for _, part := range all {
		maps.Copy(whole.Feedback, part.Feedback)
	}
	orders := parts[0].Orders
	figure, err := mergeFigure(all, orders, suiteEvals, func(e *Evaluated) *Figure { return &Figure{Cases: e.Cases} })
	if err != nil {
		return whole, err
	}
	if figure == nil {
		return whole, fmt.Errorf("the parts have no case")
	}
	whole.Score, whole.Cases = figure.Score, figure.Cases
	if whole.Triggers, err = mergeFigure(all, orders, suiteTriggers, func(e *Evaluated) *Figure { return e.Triggers }); err != nil {
		return whole, err
	}
	whole.Answers, err = mergeFigure(all, orders, suiteAnswers, func(e *Evaluated) *Figure { return e.Answers })
	return whole, err
}

// mergeFigure puts one suite together, or nil for a skill without it.
func mergeFigure(parts []Evaluated, orders map[string][]string, name string, of func(*Evaluated) *Figure) (*Figure, error) {
	order := orders[name]
	if len(order) == 0 {
		return nil, nil //nolint:nilnil // there is no such suite
	}
	found := map[string]FigureCase{}
	for _, part := range parts {
		figure := of(&part)
		if figure == nil {
			continue
		}
		for _, c := range figure.Cases {
			if _, twice := found[c.ID]; twice {
				return nil, fmt.Errorf("case %s of %s is in two parts", c.ID, name)
			}
			found[c.ID] = c
		}
	}
	whole := &Figure{}
	sum := new(big.Rat)
	for _, id := range order {
		c, there := found[id]
		if !there || c.Passed < 0 || c.Passed > c.Total {
			return nil, fmt.Errorf("case %s of %s is in no part, or cannot be read there", id, name)
		}
		score := evals.CaseScore{ID: id, Passed: c.Passed, Total: c.Total}
		if c.Problem != nil {
			score.Problem = *c.Problem
		}
		c.PassRate = evals.RateValue(score.PassRate())
		sum.Add(sum, score.PassRate())
		whole.Cases = append(whole.Cases, c)
	}
	if len(found) != len(order) {
		return nil, fmt.Errorf("the parts have %d cases of %s, and the suite has %d", len(found), name, len(order))
	}
	whole.Score = evals.RateValue(sum.Quo(sum, big.NewRat(int64(len(order)), 1)))
	return whole, nil
}

// WritePart keeps what a part came to beside its gradings. Its digest is of the
// skill's content, and of who works on its cases and grades them.
func WritePart(ctx context.Context, skill *evalrun.Skill, dir string, who []any, wanted schedule.Shard, found Evaluated, orders map[string][]string) error {
	content, err := workspace.Scan(ctx, skill.Dir)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil { // a part may have no case
		return err
	}
	text, err := json.Marshal(append([]any{content.Digest()}, who...))
	if err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	figures, err := json.Marshal(found)
	if err != nil {
		return err
	}
	return shard.Write(dir, shard.Part{
		Kind: shard.Skill, Digest: hex.EncodeToString(sum[:16]), Index: wanted.Index, Of: wanted.Of, Skill: figures, Orders: orders,
	})
}
