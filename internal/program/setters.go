package program

import (
	"time"
)

// The makers of setters for keys that are alike.

func textKey(field func(*Program) *string, accepted string) setter {
	return func(p *Program, v value) error {
		text, err := v.word(accepted)
		if err == nil {
			*field(p) = text
		}
		return err
	}
}

func pathKey(field func(*Program) *string) setter {
	return func(p *Program, v value) error {
		text, err := v.oneLine("a path from the repository's root")
		if err != nil {
			return err
		}
		if text, err = cleanPath(text); err != nil {
			return err
		}
		*field(p) = text
		return nil
	}
}

func choiceKey(field func(*Program) *string, choices ...string) setter {
	return func(p *Program, v value) error {
		text, err := v.oneOf(choices...)
		if err == nil {
			*field(p) = text
		}
		return err
	}
}

func boolKey(field func(*Program) *bool) setter {
	return func(p *Program, v value) error {
		text, err := v.oneOf("true", "false", "yes", "no", "on", "off")
		if err == nil {
			*field(p) = text == "true" || text == "yes" || text == "on"
		}
		return err
	}
}

func countKey(field func(*Program) *int, most int) setter {
	return func(p *Program, v value) error {
		n, err := v.count(most, "")
		if err == nil {
			*field(p) = n
		}
		return err
	}
}

func durationKey(field func(*Program) *time.Duration, least time.Duration) setter {
	return func(p *Program, v value) error {
		d, err := v.duration(least)
		if err == nil {
			*field(p) = d
		}
		return err
	}
}

func thresholdKey(field func(*Thresholds) *float64) setter {
	return func(p *Program, v value) error {
		amount, err := v.amount()
		if err == nil {
			*field(&p.Thresholds) = amount
		}
		return err
	}
}

func patternsKey(field func(*Program) *[]Pattern, read func(string, int) (Pattern, error)) setter {
	return func(p *Program, v value) error {
		items, err := v.words("src/*.go, docs/")
		if err != nil {
			return err
		}
		for _, item := range items {
			pattern, err := read(item.text, item.line)
			if err != nil {
				return fault{item.line, err}
			}
			pattern.Bare, pattern.Named = false, true // a list holds no prose
			*field(p) = append(*field(p), pattern)
		}
		return nil
	}
}
