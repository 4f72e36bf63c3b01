package suite

import (
	"maps"
	"slices"
)

// Failures lists the rows of the table.
func Failures() []Failure { return slices.Collect(maps.Keys(failures)) }
