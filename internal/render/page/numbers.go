package page

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/org/autoloop/internal/plain"
)

// short writes six significant digits at most, without an exponent where that
// is readable.
func short(f float64) string {
	if f != 0 && (math.Abs(f) >= 1e12 || math.Abs(f) < 1e-6) {
		return strconv.FormatFloat(f, 'g', 6, 64)
	}
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(f, 'g', 6, 64), 64)
	if err != nil {
		rounded = f
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

// Share is one part of a whole, from 0 to 1.
type Share struct {
	Name  string
	Count int
	Part  float64
}

func shares(counts map[string]int, of int) []Share {
	var list []Share
	for name, count := range counts {
		list = append(list, Share{name, count, float64(count) / float64(max(of, 1))})
	}
	slices.SortFunc(list, func(a, b Share) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// ticks are round numbers that divide a range into about n parts.
func ticks(low, high float64, n int) []float64 {
	if !(high > low) || n < 1 {
		return []float64{low}
	}
	raw := (high - low) / float64(n)
	power := math.Pow(10, math.Floor(math.Log10(raw)))
	step := 10 * power
	for _, f := range []float64{1, 2, 5} {
		if f*power >= raw {
			step = f * power
			break
		}
	}
	var list []float64
	for i := math.Ceil(low / step); i*step <= high+step*1e-9 && len(list) < 100; i++ {
		list = append(list, i*step)
	}
	return list
}

// clip bounds a text of unknown origin to n runes, and looks at no more of it than can
// hold so many; html/template takes care of markup.
func clip(text string, n int) string {
	const longest = 8 // bytes for each character
	return plain.Clip(plain.Text(text[:min(len(text), longest*n)]), n)
}
