package page

import (
	"cmp"
	"slices"

	"github.com/org/autoloop/internal/plain"
)

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

// clip bounds a text of unknown origin to n runes, and looks at no more of it than can
// hold so many; html/template takes care of markup.
func clip(text string, n int) string {
	const longest = 8 // bytes for each character
	return plain.Clip(plain.Text(text[:min(len(text), longest*n)]), n)
}
