package process

// WithoutOverlay is how as on a system that has no overlays.
func WithoutOverlay(how *Isolation) *Isolation {
	plain := *how
	plain.plainCaches = true
	return &plain
}

// WithoutGroups is a runner as on a system that lets us make no control groups.
func (r *Runner) WithoutGroups() *Runner {
	r.ungrouped = true
	return r
}
