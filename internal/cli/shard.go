package cli

import (
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/schedule"
)

// parseShard reads "2/5"; "" is everything.
func parseShard(text string) (schedule.Shard, error) {
	if text == "" {
		return schedule.Shard{}, nil
	}
	index, of, _ := strings.Cut(text, "/")
	i, errIndex := strconv.Atoi(index)
	n, errOf := strconv.Atoi(of)
	if errIndex != nil || errOf != nil || i < 1 || i > n {
		return schedule.Shard{}, misuse.Errorf("--shard %q is no part such as 2/5", text)
	}
	return schedule.Shard{Index: i, Of: n}, nil
}
