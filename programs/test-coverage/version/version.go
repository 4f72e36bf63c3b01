// Package version reads and compares versions such as 1.20.3-rc.1, and says
// whether one satisfies a constraint such as ">=1.2 <2".
package version

import (
	"fmt"
	"strconv"
	"strings"
)

// Version is a version with three numbers and what is before its release.
type Version struct {
	Major, Minor, Patch int
	Pre                 string
}

// Parse reads a version. Numbers that are missing are zero, and a leading v is
// no matter.
func Parse(text string) (Version, error) {
	core, pre, found := strings.Cut(strings.TrimPrefix(text, "v"), "-")
	if found && pre == "" {
		return Version{}, fmt.Errorf("%q has nothing behind its dash", text)
	}
	fields := strings.Split(core, ".")
	if len(fields) > 3 {
		return Version{}, fmt.Errorf("%q has more than three numbers", text)
	}
	var numbers [3]int
	for i, field := range fields {
		number, err := strconv.Atoi(field)
		if err != nil {
			return Version{}, fmt.Errorf("%q: %q is no number", text, field)
		}
		if number < 0 || len(field) > 1 && field[0] == '0' {
			return Version{}, fmt.Errorf("%q: %q is no number of a version", text, field)
		}
		numbers[i] = number
	}
	return Version{numbers[0], numbers[1], numbers[2], pre}, nil
}

// String is the version as Parse reads it.
func (v Version) String() string {
	text := fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch)
	if v.Pre != "" {
		text += "-" + v.Pre
	}
	return text
}

// Compare returns -1 when v is before other, 1 when it is after, else 0.
func (v Version) Compare(other Version) int {
	for _, pair := range [][2]int{{v.Major, other.Major}, {v.Minor, other.Minor}, {v.Patch, other.Patch}} {
		if pair[0] < pair[1] {
			return -1
		}
		if pair[0] > pair[1] {
			return 1
		}
	}
	return comparePre(v.Pre, other.Pre)
}

// comparePre compares what is before a release, part by part: numbers by size
// and before words, words by their letters, the shorter before the longer, and
// the release itself after all.
func comparePre(a, b string) int {
	switch {
	case a == b:
		return 0
	case a == "":
		return 1
	case b == "":
		return -1
	}
	left, right := strings.Split(a, "."), strings.Split(b, ".")
	for i := range left {
		if i == len(right) {
			return 1
		}
		if order := comparePart(left[i], right[i]); order != 0 {
			return order
		}
	}
	if len(left) < len(right) {
		return -1
	}
	return 0
}

func comparePart(a, b string) int {
	x, errX := strconv.Atoi(a)
	y, errY := strconv.Atoi(b)
	switch {
	case errX == nil && errY == nil && x < y:
		return -1
	case errX == nil && errY == nil && x > y:
		return 1
	case errX == nil && errY == nil:
		return 0
	case errX == nil:
		return -1
	case errY == nil:
		return 1
	}
	return strings.Compare(a, b)
}

// Satisfies says whether v is within a constraint: versions after =, !=, <, <=,
// >, >=, ^ (the same first number that is not zero) or ~ (the same first two
// numbers), separated by spaces, all of which must hold.
func (v Version) Satisfies(constraint string) (bool, error) {
	terms := strings.Fields(constraint)
	if len(terms) == 0 {
		return false, fmt.Errorf("the constraint is empty")
	}
	for _, term := range terms {
		at := strings.IndexFunc(term, func(r rune) bool { return r == 'v' || r >= '0' && r <= '9' })
		if at < 0 {
			return false, fmt.Errorf("%q has no version", term)
		}
		bound, err := Parse(term[at:])
		if err != nil {
			return false, err
		}
		holds, err := v.holds(term[:at], bound)
		if err != nil || !holds {
			return false, err
		}
	}
	return true, nil
}

func (v Version) holds(operator string, bound Version) (bool, error) {
	order := v.Compare(bound)
	switch operator {
	case "", "=":
		return order == 0, nil
	case "!=":
		return order != 0, nil
	case "<":
		return order < 0, nil
	case "<=":
		return order <= 0, nil
	case ">":
		return order > 0, nil
	case ">=":
		return order >= 0, nil
	case "~":
		return order >= 0 && v.Major == bound.Major && v.Minor == bound.Minor, nil
	case "^":
		if order < 0 || v.Major != bound.Major {
			return false, nil
		}
		if bound.Major > 0 {
			return true, nil
		}
		if bound.Minor > 0 {
			return v.Minor == bound.Minor, nil
		}
		return v.Minor == 0 && v.Patch == bound.Patch, nil
	}
	return false, fmt.Errorf("%q is no operator", operator)
}
