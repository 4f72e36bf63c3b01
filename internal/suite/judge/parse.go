package judge

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
)

// maxAnswer bounds what is looked at of an answer, in bytes, and maxObjects how
// many beginnings of an object are tried.
const (
	maxAnswer  = 256 << 10
	maxObjects = 1000
)

// graded is the object that a judge answers with.
type graded struct {
	Score     *json.RawMessage `json:"score"`
	Max       *json.RawMessage `json:"max"`
	Rationale any              `json:"rationale"`
}

// parse finds the one object with a score in an answer, between whatever prose
// and braces there are, and reads it. Two objects with different scores are no
// answer.
func parse(text string) (metric.Value, string, error) {
	found := objectsIn(text, func(one graded) bool { return one.Score != nil })
	if len(found) == 0 {
		return metric.Value{}, "", errors.New("it has no JSON object with a `score`")
	}
	first, err := found[0].value()
	if err != nil {
		return metric.Value{}, "", err
	}
	for _, other := range found[1:] {
		if value, err := other.value(); err != nil || value.Cmp(first) != 0 {
			return metric.Value{}, "", fmt.Errorf("it has %d JSON objects with a `score` that differ", len(found))
		}
	}
	rationale, _ := found[0].Rationale.(string)
	return first, rationale, nil
}

// objectsIn finds the JSON objects in a text that are wanted. One may be inside of
// another that is not.
func objectsIn[T any](text string, wanted func(T) bool) []T {
	text = text[:min(len(text), maxAnswer)]
	var found []T
	for range maxObjects {
		start := strings.IndexByte(text, '{')
		if start < 0 {
			break
		}
		text = text[start:]
		var raw json.RawMessage
		var one T
		length := 1
		if json.NewDecoder(strings.NewReader(text)).Decode(&raw) == nil && json.Unmarshal(raw, &one) == nil &&
			wanted(one) {
			found, length = append(found, one), len(raw)
		}
		text = text[length:]
	}
	return found
}

// value is the score as a finite number from 0 to 1.
func (g graded) value() (metric.Value, error) {
	if g.Max != nil {
		return metric.Value{}, errors.New("it has a `max`; the scale is 0 to 1")
	}
	var number json.Number
	if err := json.Unmarshal(*g.Score, &number); err != nil || strings.HasPrefix(string(*g.Score), `"`) {
		return metric.Value{}, errors.New("its `score` is no number")
	}
	score, err := metric.ParseValue(number.String())
	switch {
	case errors.Is(err, metric.ErrNotFinite):
		return metric.Value{}, errors.New("its `score` is no finite number")
	case err != nil:
		return metric.Value{}, errors.New("its `score` is no number")
	case score.Sign() < 0 || score.Cmp(metric.FromInt(1)) > 0:
		return metric.Value{}, fmt.Errorf("its `score` %s is not from 0 to 1", plain.Short(number.String(), maxProblem))
	}
	return score, nil
}
