package state_test

import (
	"time"

	"github.com/org/autoloop/internal/score"
)

func value(text string) *score.Value {
	v := score.MustValue(text)
	return &v
}

func at(text string) *time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return &t
}
