package loop

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop/evaluation"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/tests/long"
)

// measuredText evaluates the text of value.txt; one that is missing counts as empty.
type measuredText func(text string) (value string, problem string)

func (f measuredText) Run(_ context.Context, request evaluation.Request) (evaluation.Result, error) {
	data, err := os.ReadFile(filepath.Join(request.Dir, "value.txt"))
	if err != nil && !os.IsNotExist(err) {
		return evaluation.Result{}, err
	}
	number, problem := f(strings.TrimSpace(string(data)))
	if problem != "" {
		return evaluation.Result{Problem: problem}, nil
	}
	value := metric.MustValue(number)
	return evaluation.Result{Measurement: metric.Measurement{
		Metric:  &value,
		Numbers: map[string]metric.Value{"m": value},
	}}, nil
}

// faults counts the lines with a fault, as a linter does: a file that cannot be read
// as a program has one more.
func faults(text string) (value, problem string) {
	return strconv.Itoa(strings.Count(text, "fault") + strings.Count(text, ")}]")), ""
}

// swallows counts the lines that a program prints; one that does not run prints
// none, and nobody sees that it failed.
func swallows(text string) (value, problem string) {
	if strings.Contains(text, ")}]") || strings.Contains(text, "broken") {
		return "0", ""
	}
	return strconv.Itoa(len(strings.Fields(text))), ""
}

// needsContent fails for an empty file.
func needsContent(text string) (value, problem string) {
	if text == "" {
		return "", "there is no number"
	}
	return strings.Fields(text)[0], ""
}

// TestHeldGains: a gain that is too good is held until the evaluation was seen to
// notice broken files, in a dry run and in a run alike.
func TestHeldGains(t *testing.T) {
	long.Only(t, long.GitHub)
	t.Parallel()
	for name, c := range map[string]struct {
		evaluate          measuredText
		direction         string
		before, candidate string // the text; "gone" removes the file
		outcome           history.Outcome
		reason            string
		roles             string // of what was measured because of it, none for a gain that is not too good
	}{
		"faults go to zero, and broken files have more": {
			faults, "lower", "fault fault fault", "clean", history.Accepted,
			"3 → 0 is a drop to zero; with the changed files emptied the evaluation gives the same, but with a " +
				"syntax error in the changed files it notices: it gives 4", "emptied garbled",
		},
		"faults go to zero, for the file is gone": {
			faults, "lower", "fault fault fault", "gone", history.Rejected,
			"the number does not depend on what was measured", "emptied",
		},
		"an evaluation that swallows errors": {
			swallows, "lower", "a b c", "broken", history.Rejected,
			"the number does not depend on what was measured: with a syntax error in the changed files the " +
				"evaluation gives 0 as well", "emptied garbled",
		},
		"an evaluation that fails for an emptied file": {
			needsContent, "higher", "1", "5000", history.Accepted,
			"with the changed files emptied the evaluation notices: not scored: there is no number; look at the change",
			"emptied",
		},
		"a gain like any other": {
			needsContent, "higher", "1", "5", history.Accepted,
			"5 is better than 1", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, "", c.before)
			text := strings.ReplaceAll(bedProgram, "metric_direction: higher", "metric_direction: "+c.direction)
			text = strings.ReplaceAll(text, "%s\n", "")
			b.commit(map[string]string{".autoloop/programs/p.md": text})
			b.service = b.newService(text)
			b.service.Eval = c.evaluate
			b.agent = func(request agent.Request) agent.Reply {
				file := filepath.Join(request.Dir, "value.txt")
				if c.candidate == "gone" {
					require.NoError(t, os.Remove(file))
				} else {
					b.write(request.Dir, map[string]string{"value.txt": c.candidate + "\n"})
				}
				return agent.Reply{Summary: "try"}
			}
			dry, err := b.service.DryRun(t.Context())
			require.NoError(t, err)
			assert.Contains(t, strings.Join(decision.Texts(dry.Reasons), "\n"), c.reason, "a dry run decides the same")
			result := b.one()
			require.Equal(t, c.outcome, result.Outcome, "%v", result.Reasons)
			assert.Contains(t, strings.Join(decision.Texts(result.Reasons), "\n"), c.reason)
			assert.NotEmpty(t, result.Samples.Candidate, "what was looked at besides is no sample")
			var roles []string
			for e := range history.Of[*history.Measured](slices.All(b.records().log.Events)) {
				if e.Stage == "held" {
					roles = append(roles, string(e.Role))
				}
			}
			decided := b.records().decided(result.Iteration)
			assert.Equal(t, strings.Fields(c.roles), append([]string{}, roles...))
			assert.Equal(t, decision.RuleVersion, decided.Rule.Version)
			assert.Contains(t, string(b.records().doc.Render()), c.reason, "the state says it")
			if c.outcome == history.Accepted {
				assert.Equal(t, c.candidate, b.kept())
			} else {
				assert.Equal(t, c.before, b.git("show", "main:value.txt"))
				assert.NotContains(t, b.refs(), "refs/heads/autoloop/")
			}
		})
	}
}
