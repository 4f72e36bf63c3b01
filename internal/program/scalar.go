package program

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/org/autoloop/internal/metric"
)

// The readers of values. An error says what stands there and what is accepted;
// the caller adds the key.

// fault is an error at another line than its key's.
type fault struct {
	line int
	error
}

var errEmpty = errors.New("it has no value")

// scalarText returns the text of a scalar, not empty, without spaces around it.
func (v value) scalarText() (string, error) {
	switch text := strings.TrimSpace(v.text); {
	case v.kind == null, v.kind == scalar && text == "":
		return "", errEmpty
	case v.kind == list:
		return "", errors.New("it is a list")
	case v.kind == mapping:
		return "", errors.New("it is a mapping")
	default:
		return text, nil
	}
}

func (v value) word(accepted string) (string, error) {
	text, err := v.scalarText()
	if err != nil {
		return "", fmt.Errorf("%w; give %s", err, accepted)
	}
	return text, nil
}

func (v value) oneLine(accepted string) (string, error) {
	text, err := v.word(accepted)
	if err == nil && strings.ContainsAny(text, "\n\r") {
		return "", fmt.Errorf("it has more than one line; give %s", accepted)
	}
	return text, err
}

func (v value) words(example string) ([]value, error) {
	if v.kind == scalar && strings.TrimSpace(v.text) != "" {
		return nil, fmt.Errorf("%q is no list; give one, as in `[%s]`", clip(v.text), clip(strings.TrimSpace(v.text)))
	}
	if v.kind != list {
		return nil, fmt.Errorf("give a list, as in `[%s]`", example)
	}
	for _, item := range v.items {
		if _, err := item.oneLine(""); err != nil {
			_, err = item.oneLine("a text for each item of the list, as in `[" + example + "]`")
			return nil, fault{item.line, err}
		}
	}
	return v.items, nil
}

func (v value) oneOf(choices ...string) (string, error) {
	text, err := v.scalarText()
	if at := slices.Index(choices, strings.ToLower(text)); err == nil && at >= 0 {
		return choices[at], nil
	}
	accepted := "accepted are `" + strings.Join(choices, "`, `") + "`"
	if err != nil {
		return "", fmt.Errorf("%w; %s", err, accepted)
	}
	return "", fmt.Errorf("%q is not accepted; %s", clip(text), accepted)
}

func (v value) number() (metric.Value, error) {
	text, err := v.scalarText()
	if err != nil {
		return metric.Value{}, fmt.Errorf("%w; give a plain number such as 0.95", err)
	}
	number, err := metric.ParseValue(text)
	if err != nil {
		return number, fmt.Errorf("%w; give a plain number such as 0.95, without a unit", err)
	}
	return number, nil
}

// amount is a number of zero or more, as a float.
func (v value) amount() (float64, error) {
	number, err := v.number()
	if err == nil && number.Sign() < 0 {
		err = fmt.Errorf("%s is below 0; give a number of 0 or more", number)
	}
	return number.Float64(), err
}

func (v value) count(most int, or string) (int, error) {
	text, err := v.scalarText()
	n, bad := strconv.Atoi(text)
	if err == nil && bad == nil && n >= 1 && n <= most {
		return n, nil
	}
	accepted := fmt.Sprintf("give a whole number from 1 to %d%s", most, or)
	if err != nil {
		return 0, fmt.Errorf("%w; %s", err, accepted)
	}
	return 0, fmt.Errorf("%q is not accepted; %s", clip(text), accepted)
}

// countOrOff is a count, or 0 for `off`.
func (v value) countOrOff() (int, error) {
	switch strings.ToLower(strings.TrimSpace(v.text)) {
	case "off", "false":
		if v.kind == scalar {
			return 0, nil
		}
	}
	return v.count(10_000, ", or `off`")
}

// allowance is an amount of zero or more, absolute or in percent.
func (v value) allowance() (Allowance, error) {
	const accepted = "accepted are amounts such as `0.01` and `5%`"
	text, err := v.scalarText()
	if err != nil {
		return Allowance{}, fmt.Errorf("%w; %s", err, accepted)
	}
	digits, percent := strings.CutSuffix(text, "%")
	number, err := metric.ParseValue(digits)
	if err != nil || number.Sign() < 0 {
		return Allowance{}, fmt.Errorf("%q is no amount of 0 or more; %s", clip(text), accepted)
	}
	return Allowance{Value: number, Percent: percent}, nil
}

const maxDuration = 30 * 24 * time.Hour

// duration is a time such as 90s, 10m, 1h30m or "30 minutes".
func (v value) duration(least time.Duration) (time.Duration, error) {
	const accepted = "accepted are times such as `90s`, `10m`, `1h30m`, up to 30 days"
	text, err := v.scalarText()
	if err != nil {
		return 0, fmt.Errorf("%w; %s", err, accepted)
	}
	d, err := span(strings.ToLower(text))
	if text == "0" {
		d, err = 0, nil
	}
	if err != nil || d < least || d > maxDuration {
		return 0, fmt.Errorf("%q is not accepted; %s", clip(text), accepted)
	}
	return d, nil
}

func (v value) minutes() (time.Duration, error) {
	number, err := v.number()
	if err != nil {
		return 0, err
	}
	d := number.Float64() * float64(time.Minute)
	if number.Sign() <= 0 || d > float64(maxDuration) || d < float64(time.Second) {
		return 0, fmt.Errorf("%s minutes are not between a second and 30 days", number)
	}
	return time.Duration(math.Round(d)), nil
}
