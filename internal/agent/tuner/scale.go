package tuner

import (
	"math"
	"strconv"
)

// unit maps a value to the unit interval, where all parameters are alike.
func (p Param) unit(x float64) float64 {
	if p.Log {
		return (math.Log(x) - math.Log(p.Min)) / p.ratio()
	}
	return (x - p.Min) / (p.Max - p.Min)
}

// value is the inverse of unit, before snapping.
func (p Param) value(u float64) float64 {
	if p.Log {
		return math.Exp(math.Log(p.Min) + u*p.ratio())
	}
	return p.Min + u*(p.Max-p.Min)
}

// ratio is the logarithm of Max/Min, which itself may be too large a number.
func (p Param) ratio() float64 { return math.Log(p.Max) - math.Log(p.Min) }

// Clamp returns the nearest value within the bounds.
func (p Param) Clamp(x float64) float64 { return min(max(x, p.Min), p.Max) }

// Snap returns the nearest allowed value: within the bounds, on the grid of
// Step, whole for Int. A continuous value keeps as many decimal digits as a
// difference of resolution (in units of the whole range) needs, so that texts
// stay short.
func (p Param) Snap(x, resolution float64) float64 {
	x = p.Clamp(x)
	switch {
	case p.Step > 0:
		return p.snapStep(x)
	case p.Int:
		return min(max(math.Round(x), math.Ceil(p.Min)), math.Floor(p.Max))
	}
	return p.Clamp(roundTo(x, p.quantum(x, resolution)))
}

func (p Param) snapStep(x float64) float64 {
	k := min(math.Round((x-p.Min)/p.Step), p.lastStep())
	x = p.Clamp(clean(p.Min + k*p.Step))
	if p.Int {
		return min(max(math.Round(x), math.Ceil(p.Min)), math.Floor(p.Max))
	}
	return x
}

func (p Param) lastStep() float64 { return math.Floor((p.Max-p.Min)/p.Step + 1e-9) }

// spacing is the distance between neighbouring allowed values at x in units of
// the range; 0 for a continuous parameter.
func (p Param) spacing(x float64) float64 {
	step := p.Step
	if p.Int {
		step = max(step, 1)
	}
	if step == 0 {
		return 0
	}
	if p.Log {
		return math.Log1p(step/max(x, p.Min)) / p.ratio()
	}
	return step / (p.Max - p.Min)
}

// levels is the number of allowed values, those of a continuous parameter in
// steps that its digits still show; so many that no history exhausts them count
// as mostScanned.
func (p Param) levels() int {
	var count float64
	switch {
	case p.Step > 0:
		count = p.lastStep() + 1
	case p.Int:
		count = math.Floor(p.Max) - math.Ceil(p.Min) + 1
	case p.Log:
		count = math.Floor(p.ratio()/1e-12) + 1
	default:
		count = math.Floor((p.Max-p.Min)/p.quantum(max(math.Abs(p.Min), math.Abs(p.Max)), 0)) + 1
	}
	return int(min(count, mostScanned))
}

// level is the k-th allowed value.
func (p Param) level(k int) float64 {
	switch {
	case p.Step > 0:
		return p.snapStep(p.Min + float64(k)*p.Step)
	case p.Int:
		return math.Ceil(p.Min) + float64(k)
	}
	return p.Snap(p.value(float64(k)/float64(max(p.levels()-1, 1))), 0)
}

// quantum is the power of ten that a change of resolution still shows at x.
func (p Param) quantum(x, resolution float64) float64 {
	width := (p.Max - p.Min) * resolution
	if p.Log {
		width = x * p.ratio() * resolution
	}
	// Fewer than 1e-12 of the value is lost in its own rounding.
	width = max(width, math.Abs(x)*1e-12, math.SmallestNonzeroFloat64*1e16)
	return math.Pow(10, math.Floor(math.Log10(width)))
}

// roundTo rounds x to a multiple of a power of ten, and to the float64 whose
// shortest text is that multiple.
func roundTo(x, quantum float64) float64 {
	digits := int(-math.Round(math.Log10(quantum)))
	if digits <= 0 {
		return math.Round(x/quantum) * quantum
	}
	return written(x, 'f', digits)
}

// clean removes the last bits of noise that a sum of decimal steps collects.
func clean(x float64) float64 { return written(x, 'g', 12) }

// written is the number that the text of another means.
func written(x float64, form byte, digits int) float64 {
	read, err := strconv.ParseFloat(strconv.FormatFloat(x, form, digits, 64), 64)
	if err != nil {
		return x
	}
	return read + 0 // no negative zero
}
