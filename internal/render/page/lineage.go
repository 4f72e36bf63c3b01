package page

import (
	"fmt"
	"html/template"
	"strings"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
)

// maxNodes bounds the candidates of the lineage: the latest are drawn, and
// their ancestors.
const maxNodes = 120

// node is one candidate of a population.
type node struct {
	event    *history.Proposed
	parent   *node
	children []*node
	depth    int
	row      float64
	best     bool // the best candidate or one of its ancestors
}

// lineage draws the candidates of a population as a tree, from left to right by
// generation. It is empty unless one has grown from another.
func lineage(proposals []*history.Proposed, direction metric.Direction) template.HTML {
	nodes := family(proposals)
	generations, rows := 0, 0.0
	for _, n := range nodes {
		if n.parent == nil {
			n.place(&rows)
		}
		generations = max(generations, n.depth)
	}
	if generations == 0 {
		return ""
	}
	best := bestOf(nodes, direction)
	for n := best; n != nil; n = n.parent {
		n.best = true
	}
	const rowHeight, edge = 32.0, 40.0
	height := rowHeight*rows + 14
	var d drawing
	d.begin("chart lineage", fmt.Sprintf("%d candidates over %d generations; the best is %s of iteration %d",
		len(nodes), generations+1, number(best.event.Metric), best.event.Iteration), chartWidth, height)
	at := func(n *node) (x, y float64) {
		return edge + (chartWidth-2*edge-90)*float64(n.depth)/float64(generations), rowHeight*n.row + rowHeight/2 + 8
	}
	var others, toBest strings.Builder
	for _, n := range nodes {
		if n.parent == nil {
			continue
		}
		x, y := at(n)
		px, py := at(n.parent)
		middle := (px + x) / 2
		line := &others
		if n.best {
			line = &toBest
		}
		fmt.Fprintf(line, "M%s %sC%s %s %s %s %s %s", coordinate(px), coordinate(py), coordinate(middle), coordinate(py),
			coordinate(middle), coordinate(y), coordinate(x), coordinate(y))
	}
	d.path("descent", others.String())
	d.path("descent best", toBest.String())
	for _, n := range nodes {
		x, y := at(n)
		class := "rejected"
		if n.event.Outcome == history.Accepted || n.event.Outcome == history.PendingCI {
			class = "kept"
		}
		d.circle("node "+class, x, y, 4)
		d.text("tick", "start", x-4, y-8, fmt.Sprintf("%s · %d", number(n.event.Metric), n.event.Iteration))
	}
	return d.end()
}

// family are the measured candidates with their ancestors, the oldest first. A
// parent that is not among them, or not older, counts as the incumbent.
func family(proposals []*history.Proposed) []*node {
	known := map[history.Ancestor]*node{}
	var all []*node
	for _, e := range proposals {
		name := history.Ancestor{Iteration: e.Iteration, Proposal: e.Proposal}
		if e.Metric == nil || known[name] != nil {
			continue
		}
		n := &node{event: e}
		if e.GrownFrom != nil && e.GrownFrom.Iteration < e.Iteration {
			n.parent = known[*e.GrownFrom]
		}
		known[name] = n
		all = append(all, n)
	}
	wanted := map[*node]bool{}
	for i := len(all) - 1; i >= 0 && len(wanted) < maxNodes; i-- {
		for n := all[i]; n != nil && !wanted[n]; n = n.parent {
			wanted[n] = true
		}
	}
	var nodes []*node
	for _, n := range all {
		if !wanted[n] {
			continue
		}
		nodes = append(nodes, n)
		if n.parent != nil {
			n.depth = n.parent.depth + 1
			n.parent.children = append(n.parent.children, n)
		}
	}
	return nodes
}

// place gives every leaf a row of its own and puts each parent between its
// children.
func (n *node) place(rows *float64) {
	if len(n.children) == 0 {
		n.row = *rows
		*rows++
		return
	}
	for _, child := range n.children {
		child.place(rows)
	}
	n.row = (n.children[0].row + n.children[len(n.children)-1].row) / 2
}

func bestOf(nodes []*node, direction metric.Direction) *node {
	best := nodes[0]
	for _, n := range nodes {
		if direction.Better(*n.event.Metric, *best.event.Metric) {
			best = n
		}
	}
	return best
}
