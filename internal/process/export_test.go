package process

// WithoutOverlay is how as on a system that has no overlays.
func WithoutOverlay(how *Isolation) *Isolation {
	plain := *how
	plain.plainCaches = true
	return &plain
}
