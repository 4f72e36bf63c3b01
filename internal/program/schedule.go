package program

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // zones of CRON_TZ on machines without a zone database

	"github.com/robfig/cron/v3"

	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/plain"
)

// The bounds of an interval.
const (
	minInterval = time.Minute
	maxInterval = 10 * 365 * 24 * time.Hour
)

// Early is how long before a tick of a cron schedule a run counts as the run
// of that tick.
const Early = 5 * time.Minute

const scheduleForms = "accepted are `every 6h`, `every 30 minutes`, `every 1.5h`, `every 2 days`, `every 1w` (a " +
	"minute to ten years), `hourly`, `daily`, `weekly`, `monthly`, " +
	"a cron line of five fields such as `0 3 * * *` (`CRON_TZ=Europe/Berlin 0 3 * * *` with a zone), and " +
	"`\"@daily\"` and its like, quoted"

// Schedule says when a program is due. The zero Schedule is due at every tick.
type Schedule struct {
	// Text is the schedule as written; "" without one.
	Text     string
	interval time.Duration
	cron     cron.Schedule
}

// ParseSchedule reads one of the accepted forms, in any case; the error lists
// them. `monthly` is thirty days.
func ParseSchedule(text string) (Schedule, error) {
	text = strings.TrimSpace(text)
	s, err := parseSchedule(text)
	if err != nil {
		return Schedule{}, fmt.Errorf("%q %w; %s", clip(text), err, scheduleForms)
	}
	s.Text = text
	return s, nil
}

var named = map[string]time.Duration{"hourly": time.Hour, "daily": day, "weekly": week, "monthly": 30 * day}

var everyForm = lazyregexp.New(`^every(?:[ \t]+(.*))?$`)

func parseSchedule(text string) (Schedule, error) {
	lower := strings.ToLower(text)
	every := everyForm().FindStringSubmatch(lower)
	switch {
	case lower == "":
		return Schedule{}, errEmpty
	case named[lower] > 0:
		return Schedule{interval: named[lower]}, nil
	case every == nil:
		return parseCron(plain.Spaced(text))
	case every[1] == "":
		return Schedule{}, errors.New("has no interval")
	case every[1][0] == '-':
		return Schedule{}, errors.New("is below zero")
	case every[1][0] < '0' || every[1][0] > '9':
		every[1] = "1 " + every[1]
	}
	interval, err := span(every[1])
	if err != nil {
		return Schedule{}, err
	}
	return between(interval)
}

func between(interval time.Duration) (Schedule, error) {
	switch {
	case interval < minInterval:
		return Schedule{}, errors.New("is under a minute")
	case interval > maxInterval:
		return Schedule{}, errOver
	}
	return Schedule{interval: interval}, nil
}

const (
	day  = 24 * time.Hour
	week = 7 * day
)

var errOver = errors.New("is over ten years")

// spanPart is a number with its unit, at the beginning of a text.
var spanPart = lazyregexp.New(`^\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)`)

// span reads a time in words or in short: 90s, 1h30m, 30 minutes, 2 days. It
// has at most ten years.
func span(text string) (total time.Duration, err error) {
	for text = strings.TrimSpace(text); text != ""; {
		found := spanPart().FindStringSubmatch(text)
		if found == nil {
			return 0, errors.New("is no number with a unit")
		}
		count, err := strconv.ParseFloat(found[1], 64)
		if err != nil || count > maxInterval.Seconds() {
			return 0, errOver
		}
		size, err := unit(found[2])
		if err != nil {
			return 0, err
		}
		if count > float64(maxInterval-total)/float64(size) {
			return 0, errOver
		}
		total += time.Duration(count * float64(size)).Round(time.Second)
		text = text[len(found[0]):]
	}
	return total, nil
}

// A unit is a letter, or a word that begins with it and may be in the plural.
var (
	unitForm = lazyregexp.New(`^(?:[smhdw]|(?:sec|second|min|minute|hr|hour|day|week)s?)$`)
	uneven   = lazyregexp.New(`^(?:mo|month|y|year)s?$`)
	units    = map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour, "d": day, "w": week}
)

func unit(name string) (size time.Duration, err error) {
	switch {
	case name == "":
		err = errors.New("has a number without a unit")
	case uneven().MatchString(name):
		err = fmt.Errorf("counts in %q, which differ in length", name)
	case !unitForm().MatchString(name):
		err = fmt.Errorf("has the unknown unit %q", clip(name))
	default:
		size = units[name[:1]]
	}
	return size, err
}

// zoneForm is a zone before the fields, which the library takes apart without looking.
var zoneForm = lazyregexp.New(`^(?:CRON_)?TZ=(\S*)(?: (.*))?$`)

func parseCron(text string) (Schedule, error) {
	fields := text
	if zone := zoneForm().FindStringSubmatch(text); zone != nil {
		fields = zone[2]
		switch {
		case fields == "":
			return Schedule{}, errors.New("has a zone and no fields after it")
		case zone[1] == "" || strings.EqualFold(zone[1], "local"):
			return Schedule{}, errors.New("names no zone")
		}
	}
	if !strings.HasPrefix(fields, "@") && strings.Count(fields, " ") != 4 {
		return Schedule{}, errors.New("is no schedule")
	}
	parsed, err := cron.ParseStandard(strings.TrimPrefix(text, "CRON_"))
	if err != nil {
		return Schedule{}, fmt.Errorf("is no schedule (%s)", clipLine(err.Error()))
	}
	if every, is := parsed.(cron.ConstantDelaySchedule); is {
		return between(every.Delay)
	}
	s := Schedule{cron: parsed}
	if s.tick(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero() {
		return Schedule{}, errors.New("never fires")
	}
	return s, nil
}

// Interval returns the time between runs; ok is false for a cron schedule and
// for none.
func (s Schedule) Interval() (interval time.Duration, ok bool) { return s.interval, s.interval > 0 }

// IsCron reports whether the schedule is a cron line.
func (s Schedule) IsCron() bool { return s.cron != nil }

// Next returns when a program that last ran at last is due: last plus the
// interval, last itself without a schedule, and for cron the first tick that
// was missed since. A run up to Early before a tick (and less than half the
// way to it) was the run of that tick. Cron without a zone is in UTC.
func (s Schedule) Next(last time.Time) time.Time {
	if s.cron == nil {
		return last.Add(s.interval)
	}
	tick := s.tick(last)
	if wait := tick.Sub(last); wait > Early {
		return tick
	}
	following := s.tick(tick)
	if !following.IsZero() && 2*tick.Sub(last) < following.Sub(tick) {
		return following
	}
	return tick
}

// tick is the first tick of a cron line after a time. The library looks five
// years ahead; the 29th of February can be eight years away.
func (s Schedule) tick(after time.Time) time.Time {
	after = after.UTC()
	for range 2 {
		if next := s.cron.Next(after); !next.IsZero() {
			return next
		}
		after = after.AddDate(5, 0, 0)
	}
	return time.Time{}
}
