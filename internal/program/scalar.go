package program

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/metric"
)

// read makes something of a value. An error says what stands there and what is accepted;
// the caller adds the key.
type read[T any] func(value) (T, error)

// into reads a value into a place, which stays as it is when that fails.
func into[T any](to *T, read read[T]) func(value) error {
	return func(v value) error {
		found, err := read(v)
		if err == nil {
			*to = found
		}
		return err
	}
}

// some has what is read as a pointer: nil is a key that is not given.
func some[T any](read read[T]) read[*T] {
	return func(v value) (*T, error) {
		found, err := read(v)
		return &found, err
	}
}

// listOf reads every item of a list, of which there is one at least.
func listOf[T any](accepted string, read read[T]) read[[]T] {
	return func(v value) (all []T, err error) {
		if len(v.items()) == 0 {
			return nil, errors.New(accepted)
		}
		for _, item := range v.items() {
			found, err := read(item)
			if err != nil {
				return nil, at(item.Line, err)
			}
			all = append(all, found)
		}
		return all, nil
	}
}

// words reads every item of a list that may be empty.
func words[T any](example string, read read[T]) read[[]T] {
	return func(v value) ([]T, error) {
		switch text := clip(strings.TrimSpace(v.Value)); {
		case v.isScalar() && text != "":
			return nil, fmt.Errorf("%q is no list; give one, as in `[%s]`", text, text)
		case v.Kind == yaml.SequenceNode && len(v.Content) == 0:
			return nil, nil
		}
		return listOf("give a list, as in `["+example+"]`", read)(v)
	}
}

var errEmpty = errors.New("it has no value")

// scalarText returns the text of a scalar, not empty, without spaces around it.
func (v value) scalarText(accepted string) (string, error) {
	var err error
	switch text := strings.TrimSpace(v.Value); {
	case v.Kind == yaml.SequenceNode:
		err = errors.New("it is a list")
	case v.Kind == yaml.MappingNode:
		err = errors.New("it is a mapping")
	case v.isNull(), text == "":
		err = errEmpty
	default:
		return text, nil
	}
	return "", fmt.Errorf("%w; %s", err, accepted)
}

func word(accepted string) read[string] {
	return func(v value) (string, error) { return v.scalarText(accepted) }
}

func oneLine(accepted string) read[string] {
	return func(v value) (string, error) {
		text, err := v.scalarText(accepted)
		if err == nil && strings.ContainsAny(text, "\n\r") {
			err = fmt.Errorf("it has more than one line; %s", accepted)
		}
		return text, err
	}
}

func refused(text, accepted string) error {
	return fmt.Errorf("%q is not accepted; %s", clip(text), accepted)
}

func oneOf[T ~string](choices ...T) read[T] {
	return func(v value) (T, error) {
		var names []string
		for _, choice := range choices {
			names = append(names, string(choice))
		}
		accepted := "accepted are `" + strings.Join(names, "`, `") + "`"
		text, err := v.scalarText(accepted)
		if at := slices.Index(names, strings.ToLower(text)); at >= 0 || err != nil {
			return choices[max(at, 0)], err
		}
		return "", refused(text, accepted)
	}
}

func (v value) truth() (bool, error) {
	text, err := oneOf("true", "false", "yes", "no", "on", "off")(v)
	return text == "true" || text == "yes" || text == "on", err
}

func (v value) number() (metric.Value, error) {
	const accepted = "give a plain number such as 0.95, without a unit"
	text, err := v.scalarText(accepted)
	if err != nil {
		return metric.Value{}, err
	}
	number, err := metric.ParseValue(text)
	if err != nil {
		err = fmt.Errorf("%w; %s", err, accepted)
	}
	return number, err
}

// amount is a number of zero or more.
func (v value) amount() (metric.Value, error) {
	number, err := v.number()
	if err == nil && number.Sign() < 0 {
		err = fmt.Errorf("%s is below 0; give a number of 0 or more", number)
	}
	return number, err
}

func (v value) confidence() (float64, error) {
	amount, err := v.amount()
	c := amount.Float64()
	if err == nil && (c < 0.5 || c >= 1) {
		err = fmt.Errorf("%g is not accepted; give a number from 0.5 to below 1, such as 0.95", c)
	}
	return c, err
}

func (v value) bounds() (Range, error) {
	const accepted = "give two numbers, the smaller first, as in `[0, 100]`"
	ends, err := listOf(accepted, value.number)(v)
	switch {
	case err != nil:
		return Range{}, err
	case len(ends) != 2:
		return Range{}, errors.New(accepted)
	case ends[0].Cmp(ends[1]) >= 0:
		return Range{}, fmt.Errorf("%s is not below %s; %s", ends[0], ends[1], accepted)
	}
	return Range{ends[0], ends[1]}, nil
}

func count(most int, or string) read[int] {
	return func(v value) (int, error) {
		accepted := fmt.Sprintf("give a whole number from 1 to %d%s", most, or)
		text, err := v.scalarText(accepted)
		if err != nil {
			return 0, err
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > most {
			return 0, refused(text, accepted)
		}
		return n, nil
	}
}

// countOr is a count, or 0 for a word.
func countOr(word string, most int) read[int] {
	return func(v value) (int, error) {
		if v.isScalar() && strings.EqualFold(strings.TrimSpace(v.Value), word) {
			return 0, nil
		}
		return count(most, ", or `"+word+"`")(v)
	}
}

// allowance is an amount of zero or more, absolute or in percent.
func (v value) allowance() (decision.Allowance, error) {
	const accepted = "accepted are amounts such as `0.01` and `5%`"
	text, err := v.scalarText(accepted)
	if err != nil {
		return decision.Allowance{}, err
	}
	digits, percent := strings.CutSuffix(text, "%")
	number, err := metric.ParseValue(digits)
	if err != nil || number.Sign() < 0 {
		return decision.Allowance{}, fmt.Errorf("%q is no amount of 0 or more; %s", clip(text), accepted)
	}
	return decision.Allowance{Value: number, Percent: percent}, nil
}

const maxDuration = 30 * 24 * time.Hour

// duration is a time such as 90s, 10m, 1h30m or "30 minutes".
func duration(least time.Duration) read[time.Duration] {
	return func(v value) (time.Duration, error) {
		const accepted = "accepted are times such as `90s`, `10m`, `1h30m`, up to 30 days"
		text, err := v.scalarText(accepted)
		if err != nil {
			return 0, err
		}
		d, err := span(strings.ToLower(text))
		if text == "0" {
			d, err = 0, nil
		}
		if err != nil || d < least || d > maxDuration {
			return 0, refused(text, accepted)
		}
		return d, nil
	}
}

func (v value) minutes() (time.Duration, error) {
	number, err := v.number()
	d := number.Float64() * float64(time.Minute)
	if err == nil && (d > float64(maxDuration) || d < float64(time.Second)) {
		err = fmt.Errorf("%s minutes are not between a second and 30 days", number)
	}
	return time.Duration(math.Round(d)), err
}
