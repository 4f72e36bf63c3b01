package cli

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/metric"
)

// output is one output of a step in GitHub Actions; an empty value says that
// there is none.
type output struct{ name, value string }

// setOutputs adds to the file that GITHUB_OUTPUT names, as far as it is set.
func setOutputs(env Env, outputs ...output) error {
	var text strings.Builder
	for _, o := range outputs {
		text.WriteString(o.String())
	}
	if err := appendTo(env.Getenv("GITHUB_OUTPUT"), text.String()); err != nil {
		return fmt.Errorf("set the step's outputs: %w", err)
	}
	return nil
}

// String is the output in the form of the file. A value that is not one plain
// line stands between delimiters that nobody can foresee, so that none of its
// lines is another output.
func (o output) String() string {
	if !strings.ContainsFunc(o.value, unicode.IsControl) {
		return o.name + "=" + o.value + "\n"
	}
	var chance [16]byte
	_, _ = rand.Read(chance[:])
	end := "end_" + hex.EncodeToString(chance[:])
	return o.name + "<<" + end + "\n" + o.value + "\n" + end + "\n"
}

// resultOutputs are those of a run: what its last iteration came to.
func resultOutputs(results []loop.Result, report string) []output {
	last := loop.Result{Outcome: history.Idle}
	if len(results) > 0 {
		last = results[len(results)-1]
	}
	verdict := ""
	if last.Verdict != nil {
		verdict = string(*last.Verdict)
	}
	return []output{
		{"outcome", string(last.Outcome)},
		{"verdict", verdict},
		{"metric", valueOutput(last.Metric)},
		{"best-metric", valueOutput(last.BestMetric)},
		{"pr-number", numberOutput(last.PullRequest)},
		{"issue-number", numberOutput(last.Issue)},
		{"report", report},
	}
}

func valueOutput(v *metric.Value) string {
	if v == nil {
		return ""
	}
	return v.String()
}

// numberOutput is the number of an issue or a pull request; 0 is none.
func numberOutput(n int) string {
	if n <= 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// writeReport keeps a JSON document for the step's output `report` and returns
// its file; "" outside of Actions.
func writeReport(env Env, dir string, text []byte) (string, error) {
	if env.Getenv("GITHUB_OUTPUT") == "" {
		return "", nil
	}
	file := filepath.Join(env.OutputDir(dir), reportFile)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return "", fmt.Errorf("write %s: %w", file, err)
	}
	if err := files.WriteFile(file, text, 0o644); err != nil {
		return "", fmt.Errorf("write %s: %w", file, err)
	}
	return file, nil
}

// compareOutputs are those of a comparison. Its report is the one that was
// written to a directory, else one of ours.
func compareOutputs(env Env, verdict decision.Verdict, found any, dir string) error {
	file := filepath.Join(env.Path(dir), reportFile)
	if dir == "" {
		text, err := taskJSON(found)
		if err != nil {
			return err
		}
		if file, err = writeReport(env, "", text); err != nil {
			return err
		}
	}
	return setOutputs(env, output{"verdict", string(verdict)}, output{"report", file})
}
