package evals

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestGradingsOfOthers have keys twice, in other letters, entries of other shapes: what is
// read of them is what they say, or nothing.
func TestGradingsOfOthers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want string // each entry as text=passed
		says string
	}{
		"an expectation": {`{"expectations": [{"expectation": "a", "passed": false}]}`, "a=false", ""},
		"both names": {
			`{"expectations": [{"expectation": "a", "text": "b", "passed": false}]}`,
			"b=false", "",
		},
		"an empty text": {
			`{"expectations": [{"expectation": "a", "text": " ", "passed": true}]}`,
			"a=true", "",
		},
		"blanks around it":         {`{"expectations": [{"text": " a\n", "passed": true}]}`, "a=true", ""},
		"a summary that is a text": {`{"summary": "good", "expectations": []}`, "", ""},
		"a list of null":           {`{"expectations": null}`, "", "it has no `expectations`"},
		"an entry of null":         {`{"expectations": [null]}`, "", "expectations[0] needs a `text` and"},
		"a second without a verdict": {`{"expectations": [{"text": "a", "passed": true}, {"text": "b", "passed": ` +
			`null}]}`, "", "expectations[1] needs a `text` and"},
		"a verdict of 1": {`{"expectations": [{"text": "a", "passed": 1}]}`, "", "is no grading: "},
		"cut off":        {`{"expectations": [{"text": "a", "passed": true}`, "", "is no grading: "},
		"two of them":    {`{"expectations": []}{"expectations": []}`, "", "is no grading: "},
		"too large": {
			`{"expectations": []` + strings.Repeat(" ", 8<<20) + `}`, "",
			"has more than 8192 KiB",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, err := ParseGrading([]byte(c.text))
			if c.says != "" {
				require.ErrorContains(t, err, c.says)
				assert.Empty(t, g)
				return
			}
			require.NoError(t, err)
			var list []string
			for _, entry := range g.Expectations {
				list = append(list, fmt.Sprintf("%s=%v", entry.Text, entry.Passed))
			}
			assert.Equal(t, c.want, strings.Join(list, " "))
		})
	}
}
