package schedule_test

import (
	"bytes"
	"container/heap"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/schedule"
)

// fleet is how a repository with many programs is run.
type fleet struct {
	programs int
	// shards are workflows that tick side by side, each for its part of the
	// programs; max is the most programs in one matrix, which GitHub bounds at
	// 256 jobs; runners is how many jobs run at the same time.
	shards, max, runners int
}

// Requests to GitHub: what docs/howto/github.md promises, with a poll of CI more for
// what is kept, and those of one scheduling run. Over two jobs both look at
// everything.
const (
	requestsTick     = 6
	requestsRejected = 6
	requestsAccepted = 12
	requestsCI       = 2
)

// usage is what the runs cost when an iteration is one job, and when it is two.
type usage struct {
	minutes  int            // of runners, as they are billed
	requests map[string]int // by hour
}

// add takes in a run: every minute that was begun is billed.
func (u *usage) add(at time.Time, took time.Duration, requests int) {
	u.minutes += int(math.Ceil(took.Minutes()))
	u.requests[at.Format("2006-01-02 15")] += requests
}

// hourly are the requests of an hour: the median, and the most.
func (u *usage) hourly() (middle, most int) {
	hours := slices.Sorted(maps.Values(u.requests))
	return hours[len(hours)/2], hours[len(hours)-1]
}

// BenchmarkYear lets the scheduler decide at every hour of a year for 10,000
// programs (of a month for 1,000 with -short), and prints rows of the table in
// docs/howto/scale.md. What GitHub does with the matrix is simulated: jobs wait for a
// runner, first come, first served; a job whose program already waits takes its
// place in the concurrency group, and one whose program runs waits for it. One
// tick in thirty is dropped, and once a month none runs for six hours.
// Iterations take 8 minutes in the median, up to 45. Chance is seeded.
func BenchmarkYear(b *testing.B) {
	count, length := 10_000, 365*24*time.Hour
	if testing.Short() {
		count, length = 1000, 30*24*time.Hour
	}
	for _, f := range []fleet{
		{count / 10, 1, 256, 20},
		{count, 1, 256, 60},
		{count, 2, 256, 60},
		{count, 2, 256, 180},
		{count, 2, 256, 40}, // too few
	} {
		b.Run(fmt.Sprintf("programs=%d,shards=%d,runners=%d", f.programs, f.shards, f.runners), func(b *testing.B) {
			for b.Loop() {
				year := newYear(b, f)
				year.run(length)
				year.report(b, length)
			}
		})
	}
}

// schedules are what the programs say, by how many of a hundred say it.
var schedules = []struct { //nolint:gochecknoglobals // a table
	text  string
	share int
}{{"every 6h", 5}, {"daily", 40}, {`"30 3 * * 1-5"`, 15}, {"weekly", 30}, {"monthly", 10}}

// year is a simulation under way.
type year struct {
	fleet
	random   *rand.Rand
	programs []*program.Program
	states   map[string][]byte
	next     map[string]time.Time // when a program is due next
	shares   map[string]int       // the index of its shard
	now      time.Time
	text     []byte // a state file
	seats    map[string]*seat
	waiting  []*job
	running  jobs
	started  []time.Duration // how late each iteration began
	one, two usage
}

// seat is the concurrency group of one program.
type seat struct {
	running, waiting bool
}

// job runs one iteration.
type job struct {
	program *program.Program
	due     time.Time // when the program was due when it was chosen
	began   time.Time
	ends    time.Time
}

// jobs are a heap by their ends.
type jobs struct{ list []*job }

func (j *jobs) Len() int           { return len(j.list) }
func (j *jobs) Less(a, b int) bool { return j.list[a].ends.Before(j.list[b].ends) }
func (j *jobs) Swap(a, b int)      { j.list[a], j.list[b] = j.list[b], j.list[a] }

func (j *jobs) Push(x any) {
	if one, ok := x.(*job); ok {
		j.list = append(j.list, one)
	}
}

func (j *jobs) Pop() any {
	last := len(j.list) - 1
	one := j.list[last]
	j.list = j.list[:last]
	return one
}

// newYear makes the programs, which all ran once in the time of their interval
// before the year begins.
func newYear(tb testing.TB, f fleet) *year {
	tb.Helper()
	y := &year{
		fleet: f, random: rand.New(rand.NewPCG(1, 2)), now: now, //nolint:gosec // chance that can be repeated
		states: map[string][]byte{}, next: map[string]time.Time{}, shares: map[string]int{}, seats: map[string]*seat{},
		one: usage{requests: map[string]int{}}, two: usage{requests: map[string]int{}},
	}
	for i := range f.programs {
		p := programFile(fmt.Sprintf("program-%05d", i), "schedule: "+scheduleOf(i)+"\nplateau: off")
		require.NoError(tb, p.Err())
		y.programs, y.seats[p.Name] = append(y.programs, p), &seat{}
		for shard := range f.shards {
			if (schedule.Shard{Index: shard + 1, Of: f.shards}).Has(p.Name) {
				y.shares[p.Name] = shard + 1
			}
		}
		every, _ := p.Schedule.Interval()
		if every == 0 {
			every = 24 * time.Hour
		}
		y.record(p, now.Add(-time.Duration(y.random.Float64()*float64(every))))
	}
	return y
}

func scheduleOf(i int) string {
	place := i * 61 % 100
	for _, s := range schedules {
		if place -= s.share; place < 0 {
			return s.text
		}
	}
	panic("the shares are not a hundred")
}

// record writes the state after an iteration that began at a time. The state of
// a program is made once; only its last run changes.
func (y *year) record(p *program.Program, began time.Time) {
	first := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	if y.text == nil {
		doc := state.New("program")
		m := doc.Machine()
		m.LastRun, m.IterationCount, m.RecentStatuses = &first, 1, []string{"accepted", "rejected"}
		doc.SetMachine(m)
		y.text = doc.Render()
	}
	began = began.UTC().Truncate(time.Second)
	y.states[p.Name] = bytes.Replace(y.text, []byte(first.Format(time.RFC3339)), []byte(began.Format(time.RFC3339)), 1)
	y.next[p.Name] = p.Schedule.Next(began)
}

func (y *year) run(length time.Duration) {
	for end := y.now.Add(length); y.now.Before(end); y.now = y.now.Add(time.Hour) {
		y.advance(y.now)
		if outage := y.now.Day() == 13 && y.now.Hour() < 6; outage || y.random.IntN(30) == 0 {
			continue
		}
		for shard := range y.shards {
			y.tick(schedule.Shard{Index: shard + 1, Of: y.shards})
		}
	}
	y.advance(y.now)
}

// tick is one run of the workflow. Programs that are not due for ten minutes
// are kept from the scheduler, which makes a year quick; now and then it is asked
// about all of them, to see that it selects the same.
func (y *year) tick(shard schedule.Shard) {
	soon := y.now.Add(10 * time.Minute)
	due := make([]*program.Program, 0, len(y.programs))
	for _, p := range y.programs {
		if y.shares[p.Name] == shard.Index && y.next[p.Name].Before(soon) {
			due = append(due, p)
		}
	}
	plan := y.choose(due, shard)
	if y.random.IntN(300) == 0 && !slices.Equal(plan.Matrix.Program, y.choose(y.programs, shard).Matrix.Program) {
		panic("the scheduler selects otherwise among all programs")
	}
	y.one.add(y.now, time.Minute, requestsTick)
	y.two.add(y.now, time.Minute, requestsTick)
	standing := make(map[string]*schedule.Standing, len(plan.Standings))
	for _, s := range plan.Standings {
		standing[s.Program.Name] = s
	}
	for _, name := range plan.Matrix.Program {
		seat, s := y.seats[name], standing[name]
		if seat.waiting {
			continue
		}
		seat.waiting = true
		y.waiting = append(y.waiting, &job{program: s.Program, due: y.now.Add(-s.Lateness)})
	}
	y.begin(y.now)
}

func (y *year) choose(programs []*program.Program, shard schedule.Shard) *schedule.Plan {
	plan, err := schedule.Choose(schedule.Input{Programs: programs, States: y.states, Now: y.now, Max: y.max, Shard: shard})
	if err != nil {
		panic(err)
	}
	return plan
}

// begin gives free runners to the jobs that wait, but for those whose program
// runs.
func (y *year) begin(at time.Time) {
	var held []*job
	for len(y.waiting) > 0 && y.running.Len() < y.runners {
		j := y.waiting[0]
		y.waiting = y.waiting[1:]
		seat := y.seats[j.program.Name]
		if seat.running {
			held = append(held, j)
			continue
		}
		seat.running, seat.waiting = true, false
		took := time.Duration(min(math.Exp(y.random.NormFloat64()*0.6)*8, 45) * float64(time.Minute))
		j.began, j.ends = at, at.Add(took)
		heap.Push(&y.running, j)
		y.started = append(y.started, at.Sub(j.due))
	}
	if len(held) > 0 {
		y.waiting = append(held, y.waiting...)
	}
}

// advance ends the jobs that end before a time, each of which makes room for
// another.
func (y *year) advance(to time.Time) {
	for y.running.Len() > 0 && y.running.list[0].ends.Before(to) {
		j := y.running.list[0]
		heap.Pop(&y.running)
		y.seats[j.program.Name].running = false
		requests, ci := requestsRejected, 0
		if y.random.IntN(8) == 0 {
			requests, ci = requestsAccepted, requestsCI
		}
		y.one.add(j.ends, j.ends.Sub(j.began), requests+ci)
		y.two.add(j.ends, j.ends.Sub(j.began), 2*requests+ci)
		y.two.add(j.ends, time.Minute, 0) // the publishing job
		y.record(j.program, j.began)
		y.begin(j.ends)
	}
}

// report prints the row.
func (y *year) report(b *testing.B, length time.Duration) {
	b.Helper()
	var lateness []time.Duration
	for _, s := range y.started {
		lateness = append(lateness, max(s, 0))
	}
	slices.Sort(lateness)
	at := func(share float64) string {
		return lateness[int(share*float64(len(lateness)-1))].Round(time.Minute).String()
	}
	// A program starves when it does not get its turn although others do: it is
	// due at the end, and has been for longer than anybody ever waited.
	starved, longest := 0, lateness[len(lateness)-1]
	plan, err := schedule.Choose(schedule.Input{Programs: y.programs, States: y.states, Now: y.now})
	require.NoError(b, err)
	for _, s := range plan.Standings {
		if s.Due() && s.Lateness > longest+time.Hour {
			starved++
		}
	}
	middle, most := y.one.hourly()
	middles, mosts := y.two.hourly()
	month := func(minutes int) float64 { return float64(minutes) / length.Hours() * 24 * 30 }
	b.Logf("| %d | %d × %d | %d | %d | %s | %s | %s | %s | %d | %d, %d | %d, %d | %.0f, %.0f |",
		y.fleet.programs, y.shards, y.max, y.runners, len(y.started), at(0.5), at(0.9), at(0.99), at(1), starved,
		middle, most, middles, mosts, month(y.one.minutes), month(y.two.minutes))
	require.Zero(b, starved)
}
