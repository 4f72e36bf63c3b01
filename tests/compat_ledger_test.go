package tests

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// freezeLedger writes the fewest lines of the collected ledgers that have every
// kind of event, every field of each and every value of those that are words.
func freezeLedger(t *testing.T, from, file string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(from, "*.jsonl"))
	require.NoError(t, err)
	has := map[string][]string{}
	for _, name := range names {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		for line := range bytes.Lines(data) {
			var event map[string]any
			require.NoError(t, json.Unmarshal(line, &event))
			if !strings.Contains(string(line), "/tmp/") && len(line) < 4000 {
				has[string(line)] = slices.Collect(maps.Keys(traits(event)))
			}
		}
	}
	lines := slices.SortedFunc(maps.Keys(has), func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	seen, chosen := map[string]bool{}, []string{}
	for {
		best, gain := "", 0
		for _, line := range lines {
			fresh := 0
			for _, trait := range has[line] {
				if !seen[trait] {
					fresh++
				}
			}
			if fresh > gain {
				best, gain = line, fresh
			}
		}
		if gain == 0 {
			break
		}
		chosen = append(chosen, best)
		for _, trait := range has[best] {
			seen[trait] = true
		}
	}
	slices.SortFunc(chosen, func(a, b string) int { return cmp.Compare(eventTime(a), eventTime(b)) })
	t.Logf("%d lines of %d have %d traits", len(chosen), len(lines), len(seen))
	freezeText(t, strings.Join(chosen, ""), file)
}

func eventTime(line string) string {
	_, rest, _ := strings.Cut(line, `"time":"`)
	return rest[:min(len(rest), 24)]
}

// traits are the fields of an event, as "decided rule.regime", and the values of
// those that are a few fixed words.
func traits(event map[string]any) map[string]bool {
	found := map[string]bool{}
	kind := fmt.Sprint(event["event"])
	words := []string{"outcome", "role", "stage", "verdict", "direction", "rule.regime", "warning"}
	named := []string{"numbers", "guardrail_samples", "case_samples", "params", "durations"} // the keys are a program's
	var walk func(path string, value any)
	walk = func(path string, value any) {
		found[kind+" "+path] = true
		switch v := value.(type) {
		case map[string]any:
			for key, inner := range v {
				if slices.Contains(named, path) {
					key = "*"
				}
				walk(strings.TrimPrefix(path+"."+key, "."), inner)
			}
		case []any:
			for _, inner := range v {
				walk(path+"[]", inner)
			}
		case nil:
			found[kind+" "+path+" null"] = true
		case string:
			if slices.Contains(words, path) || strings.HasSuffix(path, ".stage") || kind == "set" && path == "key" {
				found[kind+" "+path+" "+v] = true
			}
		}
	}
	walk("", event)
	return found
}
