package main

import "math"

// circles is how many circles are packed into the unit square.
const circles = 26

// The constants of the packing. The circles start in rows, and are then pushed
// and grown for a number of steps.
const (
	shift    = 0.0  // tune: 0..1
	ripple   = 0.0  // tune: -0.5..0.5
	squeeze  = 0.2  // tune: -1..1
	steps    = 40   // tune: 1..1500 int log
	growth   = 0.01 // tune: 0.0001..1 log
	push     = 0.1  // tune: 0.001..1 log
	momentum = 0.1  // tune: 0..0.97
	cooling  = 1.0  // tune: 0..20
)

// rows has the number of circles in each row of the start.
var rows = [...]int{5, 5, 6, 5, 5}

// Circle is one circle: its centre and its radius.
type Circle struct{ X, Y, R float64 }

// Pack places the circles: rows, then steps in which every circle grows a
// little and overlaps push apart, then radii that fit.
func Pack() [circles]Circle {
	all := start()
	var speed [circles]Circle
	for step := range steps {
		heat := math.Exp(-cooling * float64(step) / steps)
		force := forces(&all, growth*heat)
		for i := range all {
			c, v, f := &all[i], &speed[i], force[i]
			v.X, v.Y, v.R = momentum*v.X+push*f.X, momentum*v.Y+push*f.Y, momentum*v.R+push*f.R
			c.X, c.Y, c.R = clamp(c.X+v.X), clamp(c.Y+v.Y), max(c.R+v.R, 0)
		}
	}
	fit(&all)
	return all
}

func start() (all [circles]Circle) {
	i := 0
	for row, count := range rows {
		y := (float64(row) + 0.5) / float64(len(rows))
		y += squeeze * (0.5 - y) * math.Abs(0.5-y)
		for k := range count {
			x := (float64(k) + 0.5) / float64(count)
			if row%2 == 1 {
				x += shift / float64(2*count)
			}
			all[i] = Circle{clamp(x), clamp(y + ripple*math.Sin(7*x+float64(row))), 0.05}
			i++
		}
	}
	return all
}

// forces grow every circle and push overlapping ones apart and smaller.
func forces(all *[circles]Circle, growth float64) (force [circles]Circle) {
	for i, a := range all {
		f := &force[i]
		f.R += growth
		for _, wall := range [...]struct{ gap, x, y float64 }{
			{a.X - a.R, 1, 0}, {1 - a.X - a.R, -1, 0}, {a.Y - a.R, 0, 1}, {1 - a.Y - a.R, 0, -1},
		} {
			if wall.gap < 0 {
				f.X -= wall.gap * wall.x
				f.Y -= wall.gap * wall.y
				f.R += wall.gap
			}
		}
		for j := range i {
			b, g := all[j], &force[j]
			dx, dy := a.X-b.X, a.Y-b.Y
			distance := math.Hypot(dx, dy) + 1e-12
			gap := distance - a.R - b.R
			if gap >= 0 {
				continue
			}
			dx, dy = dx/distance*gap/2, dy/distance*gap/2
			f.X, f.Y, f.R = f.X-dx, f.Y-dy, f.R+gap/2
			g.X, g.Y, g.R = g.X+dx, g.Y+dy, g.R+gap/2
		}
	}
	return force
}

// fit makes the radii fit: all are scaled down until nothing overlaps, then
// each takes the room that is left.
func fit(all *[circles]Circle) {
	scale := 1.0
	for i, a := range all {
		room := min(a.X, 1-a.X, a.Y, 1-a.Y)
		scale = min(scale, room/max(a.R, 1e-12))
		for _, b := range all[:i] {
			scale = min(scale, math.Hypot(a.X-b.X, a.Y-b.Y)/max(a.R+b.R, 1e-12))
		}
	}
	for i := range all {
		all[i].R *= scale
	}
	for i := range all {
		a := &all[i]
		room := min(a.X, 1-a.X, a.Y, 1-a.Y)
		for j, b := range all {
			if j != i {
				room = min(room, math.Hypot(a.X-b.X, a.Y-b.Y)-b.R)
			}
		}
		a.R = max(room-1e-12, 0)
	}
}

func clamp(x float64) float64 { return min(max(x, 0), 1) }
