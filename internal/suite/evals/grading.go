package evals

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/document"
	"github.com/org/autoloop/internal/plain"
)

// Source says who decided an expectation.
type Source string

// The sources.
const (
	Deterministic Source = "deterministic" // a check, without a model
	ByGrader      Source = "llm"           // a model's verdict
)

// Grading is a grading.json: what one run of one case came to.
type Grading struct {
	// Expectations are the deterministic ones first.
	Expectations []Graded
	// Metrics, Timing, Claims and Feedback are kept as they are; nil when not given.
	Metrics, Timing, Claims, Feedback json.RawMessage
}

// Graded is one expectation or check with its verdict.
type Graded struct {
	Text     string
	Passed   bool
	Evidence string
	// Source is "" where the file does not say.
	Source Source
}

// maxGrading bounds a grading.json, in bytes.
const maxGrading = 8 << 20

// gradedJSON is one entry as it is written: under both names, since readers
// differ in which they look for.
type gradedJSON struct {
	Expectation string `json:"expectation"`
	Text        string `json:"text"`
	Passed      *bool  `json:"passed"`
	Evidence    string `json:"evidence"`
	Source      Source `json:"source,omitempty"`
}

type gradingJSON struct {
	Summary      summaryJSON     `json:"summary"`
	Expectations *[]gradedJSON   `json:"expectations"`
	Metrics      json.RawMessage `json:"execution_metrics,omitempty"`
	Timing       json.RawMessage `json:"timing,omitempty"`
	Claims       json.RawMessage `json:"claims,omitempty"`
	Feedback     json.RawMessage `json:"eval_feedback,omitempty"`
}

type summaryJSON struct {
	PassRate float64 `json:"pass_rate"`
	Passed   int     `json:"passed"`
	Failed   int     `json:"failed"`
	Total    int     `json:"total"`
}

// ParseGrading reads a grading.json. Expectations may be named `text` or
// `expectation`; the summary is not read, since it follows from the flags.
func ParseGrading(data []byte) (Grading, error) {
	if len(data) > maxGrading {
		return Grading{}, fmt.Errorf("has more than %d KiB", maxGrading/1024)
	}
	var read struct {
		gradingJSON

		Summary json.RawMessage `json:"summary"` // whatever it is
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if err := json.Unmarshal(data, &read); err != nil {
		return Grading{}, fmt.Errorf("is no grading: %s", document.JSONError(err))
	}
	if err := unambiguous(data); err != nil {
		return Grading{}, fmt.Errorf("is no grading: %w", err)
	}
	if read.Expectations == nil {
		return Grading{}, errors.New("is no grading: it has no `expectations`")
	}
	g := Grading{Metrics: read.Metrics, Timing: read.Timing, Claims: read.Claims, Feedback: read.Feedback}
	for i, entry := range *read.Expectations {
		text := cmp.Or(strings.TrimSpace(entry.Text), strings.TrimSpace(entry.Expectation))
		if text == "" || entry.Passed == nil {
			return Grading{}, fmt.Errorf("expectations[%d] needs a `text` and `passed`", i)
		}
		g.Expectations = append(g.Expectations,
			Graded{Text: text, Passed: *entry.Passed, Evidence: entry.Evidence, Source: entry.Source})
	}
	return g, nil
}

// unambiguous refuses a key that is there twice, and one of ours in other letters:
// encoding/json takes the last one, whatever its letters, and other readers do not.
func unambiguous(data []byte) error {
	r, root, _ := document.Read("", data, maxGrading)
	ours := func(n document.Node, names ...string) {
		for _, f := range n.Fields {
			if i := slices.IndexFunc(names,
				func(name string) bool { return strings.EqualFold(name, f.Name) }); i >= 0 && names[i] != f.Name {
				r.Fail(f.Value, f.Name, "must be written `%s`", names[i])
			}
		}
	}
	ours(root, "summary", "expectations", "execution_metrics", "timing", "claims", "eval_feedback")
	for _, f := range root.Fields {
		for _, entry := range f.Value.Items {
			if f.Name == "expectations" {
				ours(entry, "text", "expectation", "passed", "evidence", "source")
			}
		}
	}
	if len(r.Problems) == 0 {
		return nil
	}
	first := r.Problems[0]
	return errors.New(strings.TrimSpace(plain.Short(first.Key, document.MaxShown) + " " + first.Message))
}

// Passed counts the expectations that passed.
func (g Grading) Passed() int {
	passed := 0
	for _, entry := range g.Expectations {
		if entry.Passed {
			passed++
		}
	}
	return passed
}

// MarshalJSON writes the file, with the summary that follows from the flags.
func (g Grading) MarshalJSON() ([]byte, error) {
	entries := []gradedJSON{}
	for _, entry := range g.Expectations {
		entries = append(entries, gradedJSON{entry.Text, entry.Text, new(entry.Passed), entry.Evidence, entry.Source})
	}
	summary := summaryJSON{Passed: g.Passed(), Total: len(entries)}
	summary.Failed = summary.Total - summary.Passed
	if summary.Total > 0 {
		summary.PassRate = float64(summary.Passed) / float64(summary.Total)
	}
	return json.Marshal(gradingJSON{
		Summary: summary, Expectations: &entries, Metrics: g.Metrics, Timing: g.Timing,
		Claims: g.Claims, Feedback: g.Feedback,
	})
}

// Merge puts what was found later into a grading: a verdict on the same text of
// the same source replaces the earlier one, others are added, and the
// deterministic ones come first. Merging the same twice changes nothing.
func (g Grading) Merge(later ...Graded) Grading {
	type key struct {
		source Source
		text   string
	}
	at := map[key]int{}
	var all []Graded
	for _, list := range [][]Graded{g.Expectations, later} {
		for _, entry := range list {
			k := key{entry.Source, entry.Text}
			if i, there := at[k]; there {
				all[i] = entry
				continue
			}
			at[k] = len(all)
			all = append(all, entry)
		}
	}
	g.Expectations = nil
	for _, first := range []bool{true, false} {
		for _, entry := range all {
			if (entry.Source == Deterministic) == first {
				g.Expectations = append(g.Expectations, entry)
			}
		}
	}
	return g
}
