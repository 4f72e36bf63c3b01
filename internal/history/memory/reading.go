package memory

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/org/autoloop/internal/program"
)

// Reading reads the programs that were found, on all processors. Whoever reads
// something else with them takes part through Reader.
type Reading struct {
	source   Programs
	places   []place
	programs []*program.Program
	taken    atomic.Int64
}

// Reading finds the programs of Load.
func (s Programs) Reading(others bool) (*Reading, error) {
	places, err := s.places()
	if err != nil {
		return nil, err
	}
	if len(places) == 0 && s.Dir == "" && !others {
		places = s.single()
	}
	return &Reading{source: s, places: places, programs: make([]*program.Program, len(places))}, nil
}

// Names are those of the programs, in their order.
func (r *Reading) Names() []string {
	names := make([]string, len(r.places))
	for i, p := range r.places {
		names[i] = p.name
	}
	return names
}

// Reader returns what reads one more program, and reports whether there was one. It
// is for one goroutine.
func (r *Reading) Reader() func() bool {
	var buffer []byte
	return func() bool {
		i := int(r.taken.Add(1)) - 1
		if i >= len(r.places) {
			return false
		}
		r.programs[i] = r.source.load(r.places[i], &buffer)
		return true
	}
}

// Beside reads programs on the processors but one, which is for other work.
// What it returns reads the rest with that one too.
func (r *Reading) Beside() (programs func() []*program.Program) {
	var group sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0)-1, len(r.places)) {
		group.Go(func() { r.rest() })
	}
	return func() []*program.Program {
		r.rest()
		group.Wait()
		return r.programs
	}
}

// Programs reads them all.
func (r *Reading) Programs() []*program.Program { return r.Beside()() }

func (r *Reading) rest() {
	for read := r.Reader(); read(); {
	}
}
