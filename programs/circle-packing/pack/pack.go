package main

import "math"

// circles is how many circles are packed into the unit square.
const circles = 26

// The constants of the packing. The circles start in rows, and are then pushed
// and grown for a number of steps.
const (
	shift    = 0.0  // tune: 0..1
	ripple   = 0.0  // tune: -0.1..0.1
	squeeze  = 0.2  // tune: 0..0.5
	steps    = 40   // tune: 10..1500 int log
	growth   = 0.01 // tune: 0.0005..0.05 log
	push     = 0.1  // tune: 0.01..0.9
	momentum = 0.1  // tune: 0..0.97
	cooling  = 1.0  // tune: 0..6
)

// rows has the number of circles in each row of the start.
var rows = [...]int{5, 5, 6, 5, 5}

type circle struct{ x, y, r float64 }

// pack places the circles: rows, then steps in which every circle grows a
// little and overlaps push apart, then radii that fit.
func pack() [circles]circle {
	all := start()
	var speed [circles]circle
	for step := range steps {
		heat := math.Exp(-cooling * float64(step) / steps)
		force := forces(&all, growth*heat)
		for i := range all {
			c, v, f := &all[i], &speed[i], force[i]
			v.x, v.y, v.r = momentum*v.x+push*f.x, momentum*v.y+push*f.y, momentum*v.r+push*f.r
			c.x, c.y, c.r = clamp(c.x+v.x), clamp(c.y+v.y), max(c.r+v.r, 0)
		}
	}
	fit(&all)
	return all
}

func start() (all [circles]circle) {
	i := 0
	for row, count := range rows {
		y := (float64(row) + 0.5) / float64(len(rows))
		y += squeeze * (0.5 - y) * math.Abs(0.5-y)
		for k := range count {
			x := (float64(k) + 0.5) / float64(count)
			if row%2 == 1 {
				x += shift / float64(2*count)
			}
			all[i] = circle{clamp(x), clamp(y + ripple*math.Sin(7*x+float64(row))), 0.05}
			i++
		}
	}
	return all
}

// forces grow every circle and push overlapping ones apart and smaller.
func forces(all *[circles]circle, growth float64) (force [circles]circle) {
	for i, a := range all {
		f := &force[i]
		f.r += growth
		for _, wall := range [...]struct{ gap, x, y float64 }{
			{a.x - a.r, 1, 0}, {1 - a.x - a.r, -1, 0}, {a.y - a.r, 0, 1}, {1 - a.y - a.r, 0, -1},
		} {
			if wall.gap < 0 {
				f.x -= wall.gap * wall.x
				f.y -= wall.gap * wall.y
				f.r += wall.gap
			}
		}
		for j := range i {
			b, g := all[j], &force[j]
			dx, dy := a.x-b.x, a.y-b.y
			distance := math.Hypot(dx, dy) + 1e-12
			gap := distance - a.r - b.r
			if gap >= 0 {
				continue
			}
			dx, dy = dx/distance*gap/2, dy/distance*gap/2
			f.x, f.y, f.r = f.x-dx, f.y-dy, f.r+gap/2
			g.x, g.y, g.r = g.x+dx, g.y+dy, g.r+gap/2
		}
	}
	return force
}

// fit makes the radii fit: all are scaled down until nothing overlaps, then
// each takes the room that is left.
func fit(all *[circles]circle) {
	scale := 1.0
	for i, a := range all {
		room := min(a.x, 1-a.x, a.y, 1-a.y)
		scale = min(scale, room/max(a.r, 1e-12))
		for _, b := range all[:i] {
			scale = min(scale, math.Hypot(a.x-b.x, a.y-b.y)/max(a.r+b.r, 1e-12))
		}
	}
	for i := range all {
		all[i].r *= scale
	}
	for i := range all {
		a := &all[i]
		room := min(a.x, 1-a.x, a.y, 1-a.y)
		for j, b := range all {
			if j != i {
				room = min(room, math.Hypot(a.x-b.x, a.y-b.y)-b.r)
			}
		}
		a.r = max(room-1e-12, 0)
	}
}

func clamp(x float64) float64 { return min(max(x, 0), 1) }
