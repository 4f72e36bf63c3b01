package githubtest

import (
	"sync"
	"time"
)

// Clock is a time of day that tests move; server and client may share it.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock starts at a time.
func NewClock(now time.Time) *Clock { return &Clock{now: now} }

// Now is the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Add moves the time.
func (c *Clock) Add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
