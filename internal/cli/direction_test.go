package cli_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/long"
)

// TestDirectionMatrix holds that scheduler, validate, iterate and its two jobs agree on
// the direction of a program, whatever its frontmatter, its text and its state say.
func TestDirectionMatrix(t *testing.T) {
	const refused = "refused"
	for i, c := range []struct{ front, text, state, want, says string }{
		{"higher", "higher", "higher", "higher", ""},
		{"higher", "higher", "lower", "higher", ""}, // the frontmatter wins; a new baseline begins
		{"higher", "higher", "", "higher", ""},
		{"higher", "lower", "higher", "higher", "it goes on with higher, as its state says"},
		{"higher", "lower", "lower", "lower", "it goes on with lower, as its state says"},
		{"higher", "lower", "", refused, "change the frontmatter's line to `metric_direction: lower`"},
		{"higher", "", "higher", "higher", ""},
		{"higher", "", "lower", "higher", ""},
		{"higher", "", "", "higher", ""},
		{"lower", "higher", "higher", "higher", "it goes on with higher, as its state says"},
		{"lower", "higher", "lower", "lower", "it goes on with lower, as its state says"},
		{"lower", "higher", "", refused, "change the frontmatter's line to `metric_direction: higher`"},
		{"lower", "lower", "higher", "lower", ""},
		{"lower", "lower", "lower", "lower", ""},
		{"lower", "lower", "", "lower", ""},
		{"lower", "", "higher", "lower", ""},
		{"lower", "", "lower", "lower", ""},
		{"lower", "", "", "lower", ""},
		{"", "higher", "higher", "higher", ""},
		{"", "higher", "lower", "higher", "its state says lower and its text \"higher is better\", which holds"},
		{"", "higher", "", "higher", ""},
		{"", "lower", "higher", "higher", "it goes on with higher, as its state says"},
		{"", "lower", "lower", "lower", "it goes on with lower, as its state says"},
		{"", "lower", "", refused, "add the line `metric_direction: lower`"},
		{"", "", "higher", "higher", ""},
		{"", "", "lower", "lower", "add the line `metric_direction: lower` to the frontmatter"},
		{"", "", "", "higher", ""},
	} {
		t.Run(strings.Join([]string{"front " + c.front, "text " + c.text, "state " + c.state}, ", "),
			func(t *testing.T) {
				if i%4 != 0 { // a quarter has each value of each of the three
					long.Only(t, long.Hostile)
				}
				t.Parallel()
				s := newShop(t)
				front, text := "", ""
				if c.front != "" {
					front = "metric_direction: " + c.front + "\n"
				}
				if c.text != "" {
					text = c.text + " is better.\n"
				}
				s.file(".autoloop/programs/p.md", "---\n"+front+changing+"---\n"+text+goodTarget+evaluation)
				s.file("value.txt", "5\n")
				s.commit()
				row := ""
				if c.state != "" {
					row = "| Metric Direction | " + c.state + " |\n"
				}
				state := "## Machine State\n\n| Field | Value |\n|---|---|\n| Last Run | " +
					s.at.Add(-time.Hour).Format(time.RFC3339) +
					" |\n| Iteration Count | 3 |\n| Best Metric | 5 |\n" + row
				s.remember("p.md", state)

				selected := s.scheduler()
				validated := s.iterate("validate", "--json")
				iterated := s.iterate("--program", "p", "--dry-run", "--json")
				begun := s.iterate("job", "begin", "--program", "p")
				proposed := s.iterate("job", "propose", "--program", "p", "--out",
					filepath.Join(s.dir, "bundle"), "--json")
				var list []struct {
					OK        bool
					Direction string `json:"metric_direction"`
				}
				require.NoError(t, json.Unmarshal([]byte(validated.out), &list), validated.errors)
				if c.want == refused {
					assert.Nil(t, s.plan()["selected"])
					assert.False(t, list[0].OK)
					assert.Equal(t, 2, iterated.code, iterated.errors)
					assert.NotZero(t, begun.code)
					assert.Equal(t, 2, proposed.code, proposed.errors)
					for _, text := range []string{
						selected.out, strings.ReplaceAll(validated.out, `\"`, `"`),
						iterated.errors, begun.out + begun.errors, proposed.errors,
					} {
						assert.Contains(t, text, c.says)
					}
					return
				}
				assert.Equal(t, "p", s.plan()["selected"], selected.out)
				assert.Equal(t, c.want, s.plan()["selected_metric_direction"])
				assert.True(t, list[0].OK, validated.out)
				assert.Equal(t, c.want, list[0].Direction)
				require.Zero(t, iterated.code, iterated.errors)
				// The agent's number is larger than 5: better exactly when higher is.
				assert.Equal(t, c.want == "higher", strings.Contains(iterated.out, `"verdict": "improved"`),
					iterated.out)
				require.Zero(t, begun.code, begun.errors)
				require.Zero(t, proposed.code, proposed.errors)
				assert.Equal(t, c.want == "higher", strings.Contains(proposed.out, `"verdict": "improved"`),
					proposed.out)
				for name, said := range map[string]string{
					"scheduler": selected.errors,
					"validate":  strings.ReplaceAll(validated.out, `\"`, `"`),
					"iterate":   strings.ReplaceAll(iterated.out, `\"`, `"`),
					"two jobs":  begun.errors + strings.ReplaceAll(begun.out+proposed.out, `\"`, `"`),
				} {
					if c.says == "" {
						assert.NotContains(t, said, "metric_direction:", name)
					} else {
						assert.Contains(t, said, c.says, name)
					}
				}
			})
	}
}

// remember writes a file to the memory branch.
func (s *shop) remember(name, text string) {
	s.t.Helper()
	s.git("checkout", "--quiet", "--orphan", "memory/autoloop")
	s.git("rm", "--quiet", "-r", "-f", "--cached", ".")
	s.file(name, text)
	s.git("add", name)
	s.git("commit", "--quiet", "--message", "state")
	s.git("checkout", "--quiet", "--force", "main")
}
