package page

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/decision"
)

// maxHeatColumns and maxHeatRows bound the heat map of a program's cases: the
// first measurement and the latest iterations, and so many cases.
const (
	maxHeatColumns = 30
	maxHeatRows    = 100
)

// HeatMap is how much of each case of a program's suite passed, by iteration.
type HeatMap struct {
	Columns []HeatColumn
	Rows    []HeatRow
	// More is how many cases are left out.
	More int
}

// HeatColumn is one measured iteration; 0 is the first measurement.
type HeatColumn struct {
	Iteration int
	Kept      bool
	rates     decision.CaseRates
}

// HeatRow is one case through all columns.
type HeatRow struct {
	ID    string
	Cells []HeatCell
}

// HeatCell is how much of a case passed, in percent; "" where it was not run.
type HeatCell struct{ Percent, Class string }

// Cases is the heat map of the program's suite; nil of a program without one.
func (p *Program) Cases() *HeatMap {
	columns := slices.Clone(p.heat)
	for _, it := range p.Iterations {
		if len(it.cases) > 0 {
			columns = append(columns, HeatColumn{it.Iteration, it.Kept(), it.cases})
		}
	}
	if len(columns) == 0 {
		return nil
	}
	if over := len(columns) - maxHeatColumns; over > 0 {
		columns = slices.Delete(columns, 1, 1+over)
	}
	names := map[string]bool{}
	for _, column := range columns {
		for name := range column.rates {
			names[name] = true
		}
	}
	sorted := slices.Sorted(maps.Keys(names))
	m := &HeatMap{Columns: columns, More: max(len(sorted)-maxHeatRows, 0)}
	for _, name := range sorted[:len(sorted)-m.More] {
		row := HeatRow{ID: clip(strings.TrimPrefix(name, decision.CaseNumber), 80)}
		for _, column := range columns {
			row.Cells = append(row.Cells, heatCell(column, name))
		}
		m.Rows = append(m.Rows, row)
	}
	return m
}

// heatCell is the mean rate of a case over the runs of a column.
func heatCell(column HeatColumn, name string) HeatCell {
	rates := column.rates[name]
	if len(rates) == 0 {
		return HeatCell{"", "rate-none"}
	}
	sum := 0.0
	for _, rate := range rates {
		sum += rate.Float64()
	}
	mean := min(max(sum/float64(len(rates)), 0), 1)
	return HeatCell{strconv.FormatFloat(100*mean, 'f', 0, 64), rateClass(mean)}
}

// rateClass is the class that colours a pass rate: from rate0 to rate4.
func rateClass(rate float64) string {
	switch {
	case rate <= 0:
		return "rate0"
	case rate >= 1:
		return "rate4"
	}
	return "rate" + strconv.Itoa(1+min(2, int(3*rate)))
}
