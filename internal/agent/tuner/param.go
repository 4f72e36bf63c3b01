package tuner

import (
	"fmt"
	"math"
	"strconv"
)

// Param is one number that may be changed.
type Param struct {
	// Name identifies the parameter in trials and proposals.
	Name string
	// Min and Max bound the value, both included.
	Min, Max float64
	// Step, when positive, allows only Min, Min+Step, Min+2·Step, ….
	Step float64
	// Log searches ratios instead of differences; Min must be above zero.
	Log bool
	// Int allows only whole numbers.
	Int bool
	// Current is the incumbent's value; outside the bounds it counts as the
	// nearer bound.
	Current float64
}

// Validate says what makes a parameter impossible to search.
func (p Param) Validate() error {
	for _, x := range []float64{p.Min, p.Max, p.Step, p.Current} {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("%v is not a finite number", x)
		}
	}
	switch {
	case p.Min >= p.Max:
		return fmt.Errorf("the minimum %v is not below the maximum %v", p.Min, p.Max)
	case math.IsInf(p.Max-p.Min, 0):
		return fmt.Errorf("the range %v..%v is too wide", p.Min, p.Max)
	case p.Step < 0:
		return fmt.Errorf("the step %v is below zero", p.Step)
	case p.Log && p.Min <= 0:
		return fmt.Errorf("a log scale needs a minimum above zero, not %v", p.Min)
	case p.Int && math.Ceil(p.Min) > math.Floor(p.Max):
		return fmt.Errorf("no whole number lies in %v..%v", p.Min, p.Max)
	case p.Step == 0 && p.Snap(p.Min, 0) == p.Snap(p.Max, 0) && !p.Int:
		return fmt.Errorf("the range %v..%v is too narrow to hold two numbers", p.Min, p.Max)
	}
	return nil
}

// unit maps a value to the unit interval, where all parameters are alike.
func (p Param) unit(x float64) float64 {
	if p.Log {
		return (math.Log(x) - math.Log(p.Min)) / p.width()
	}
	return (x - p.Min) / p.width()
}

// value is the inverse of unit, before snapping.
func (p Param) value(u float64) float64 {
	if p.Log {
		return math.Exp(math.Log(p.Min) + u*p.width())
	}
	return p.Min + u*p.width()
}

// width is the range's on its scale; Max/Min itself may be too large a number.
func (p Param) width() float64 {
	if p.Log {
		return math.Log(p.Max) - math.Log(p.Min)
	}
	return p.Max - p.Min
}

// Clamp returns the nearest value within the bounds.
func (p Param) Clamp(x float64) float64 { return min(max(x, p.Min), p.Max) }

// grid returns the first allowed value and the distance of the next one, which is 0 for a
// continuous parameter.
func (p Param) grid() (first, step float64) {
	if p.Int {
		return math.Ceil(p.Min), max(p.Step, 1)
	}
	return p.Min, p.Step
}

// Snap returns the nearest allowed value. A continuous one keeps as many decimal digits as
// a difference of resolution (in units of the whole range) needs, so that texts stay short.
func (p Param) Snap(x, resolution float64) float64 {
	x = p.Clamp(x)
	first, step := p.grid()
	if step > 0 {
		return p.level(min(max(math.Round((x-first)/step), 0), p.last()))
	}
	// Fewer than 1e-12 of the value is lost in its own rounding.
	width := max(math.Abs(x-p.value(p.unit(x)-resolution)), math.Abs(x)*1e-12, 1e-300)
	quantum := math.Pow(10, math.Floor(math.Log10(width)))
	return p.Clamp(written(math.Round(x/quantum) * quantum))
}

// spacing is the distance between neighbouring allowed values, in units of the range, at
// a place in it; 0 for a continuous parameter.
func (p Param) spacing(u float64) float64 {
	_, step := p.grid()
	x := p.value(u)
	return p.unit(x+step) - p.unit(x)
}

// mostLevels are so many values that no history exhausts them.
const mostLevels = 1 << 20

// levels is the number of allowed values.
func (p Param) levels() int { return int(min(p.last()+1, mostLevels)) }

// last is the highest level.
func (p Param) last() float64 {
	first, step := p.grid()
	if step == 0 {
		return mostLevels
	}
	return math.Floor((p.Max-first)/step + 1e-9)
}

// level is the k-th allowed value.
func (p Param) level(k float64) float64 {
	first, step := p.grid()
	switch {
	case step == 0:
		return p.Snap(p.value(k/mostLevels), 0)
	case p.Int:
		return first + step*k
	}
	return p.Clamp(written(first + step*k))
}

// written is a number without the last bits of noise that sums and products collect.
func written(x float64) float64 {
	read, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 13, 64), 64)
	if err != nil {
		return x
	}
	return read + 0 // no negative zero
}
