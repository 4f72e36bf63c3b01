package program

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // zones of CRON_TZ on machines that have none

	"github.com/robfig/cron/v3"
)

// The bounds of an interval.
const (
	minInterval = time.Minute
	maxInterval = 10 * 365 * 24 * time.Hour
)

const scheduleForms = "accepted are `every 6h`, `every 30 minutes`, `every 2 days`, `every 1w`, `hourly`, `daily`, `weekly`, `monthly`, " +
	"a five-field cron line such as `0 3 * * *`, and `@daily` and its like, quoted"

// Schedule says when a program is due. The zero Schedule is due at every tick.
type Schedule struct {
	// Text is the schedule as written; "" without one.
	Text     string
	interval time.Duration
	cron     cron.Schedule
}

var (
	everyForm = regexp.MustCompile(`^every\s+(\d+)?\s*([a-z]+)$`)
	zoneForm  = regexp.MustCompile(`^(?:CRON_)?TZ=\S+\s+\S`)
)

var units = map[string]time.Duration{
	"s": time.Second, "sec": time.Second, "second": time.Second,
	"m": time.Minute, "min": time.Minute, "minute": time.Minute,
	"h": time.Hour, "hr": time.Hour, "hour": time.Hour,
	"d": 24 * time.Hour, "day": 24 * time.Hour,
	"w": 7 * 24 * time.Hour, "week": 7 * 24 * time.Hour,
}

var named = map[string]time.Duration{
	"hourly": time.Hour, "daily": 24 * time.Hour, "weekly": 7 * 24 * time.Hour, "monthly": 30 * 24 * time.Hour,
}

// ParseSchedule reads one of the accepted forms; the error lists them.
func ParseSchedule(text string) (Schedule, error) {
	text = strings.TrimSpace(text)
	lower := strings.ToLower(text)
	if interval, ok := named[lower]; ok {
		return Schedule{Text: text, interval: interval}, nil
	}
	if found := everyForm.FindStringSubmatch(lower); found != nil {
		interval, err := every(found[1], found[2])
		if err != nil {
			return Schedule{}, fmt.Errorf("%q %w; %s", clip(text), err, scheduleForms)
		}
		return Schedule{Text: text, interval: interval}, nil
	}
	return parseCron(text)
}

func every(count, unit string) (time.Duration, error) {
	size, ok := units[unit]
	if !ok {
		size, ok = units[strings.TrimSuffix(unit, "s")]
	}
	if !ok {
		return 0, fmt.Errorf("has the unknown unit %q", unit)
	}
	n := int64(1)
	if count != "" {
		parsed, err := strconv.ParseInt(count, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("is over ten years")
		}
		n = parsed
	}
	if n > int64(maxInterval/size) {
		return 0, fmt.Errorf("is over ten years")
	}
	interval := time.Duration(n) * size
	if interval < minInterval {
		return 0, fmt.Errorf("is under a minute")
	}
	return interval, nil
}

func parseCron(text string) (Schedule, error) {
	fields := text
	if strings.HasPrefix(text, "TZ=") || strings.HasPrefix(text, "CRON_TZ=") {
		if !zoneForm.MatchString(text) {
			return Schedule{}, fmt.Errorf("%q has a zone and nothing after it; write `CRON_TZ=Europe/Berlin 0 3 * * *`", clip(text))
		}
		_, fields, _ = strings.Cut(text, " ")
	}
	if !strings.HasPrefix(strings.TrimSpace(fields), "@") && len(strings.Fields(fields)) != 5 {
		return Schedule{}, fmt.Errorf("%q is no schedule; %s", clip(text), scheduleForms)
	}
	parsed, err := cron.ParseStandard(text)
	if err != nil {
		return Schedule{}, fmt.Errorf("%q is no schedule (%s); %s", clip(text), firstLine(err.Error()), scheduleForms)
	}
	if constant, ok := parsed.(cron.ConstantDelaySchedule); ok {
		if constant.Delay < minInterval || constant.Delay > maxInterval {
			return Schedule{}, fmt.Errorf("%q is under a minute or over ten years; %s", clip(text), scheduleForms)
		}
		return Schedule{Text: text, interval: constant.Delay}, nil
	}
	if parsed.Next(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero() {
		return Schedule{}, fmt.Errorf("%q never fires; %s", clip(text), scheduleForms)
	}
	return Schedule{Text: text, cron: parsed}, nil
}

// Interval returns the time between runs; ok is false for a cron schedule and
// for none.
func (s Schedule) Interval() (interval time.Duration, ok bool) { return s.interval, s.interval > 0 }

// IsCron reports whether the schedule is a cron line.
func (s Schedule) IsCron() bool { return s.cron != nil }

// Next returns when a program that last ran at last is due: last plus the
// interval, the first tick after last for cron, last itself without a schedule.
func (s Schedule) Next(last time.Time) time.Time {
	if s.cron != nil {
		return s.cron.Next(last.UTC())
	}
	return last.Add(s.interval)
}
