package cli

import (
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/scheduler"
)

// parseShard reads "2/5"; "" is everything.
func parseShard(text string) (scheduler.Shard, error) {
	if text == "" {
		return scheduler.Shard{}, nil
	}
	index, of, _ := strings.Cut(text, "/")
	i, errIndex := strconv.Atoi(index)
	n, errOf := strconv.Atoi(of)
	if errIndex != nil || errOf != nil || i < 1 || i > n {
		return scheduler.Shard{}, Usagef("--shard %q is no part such as 2/5", text)
	}
	return scheduler.Shard{Index: i, Of: n}, nil
}
