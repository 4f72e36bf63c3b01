package cli_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/tests/long"
)

// TestDirectionMatrix holds that scheduler, validate, iterate and its two jobs agree on
// the direction of a program, whatever its frontmatter, its text and its state say.
func TestDirectionMatrix(t *testing.T) {
	const add, change = "add the line `metric_direction: lower`", "line to `metric_direction: "
	const goes = "it goes on with %s"
	for line, says := range map[string]string{ // frontmatter, text, state and what holds, "-" is nothing
		"higher higher higher higher": "", "higher higher lower higher": "", // a new baseline begins
		"higher lower higher higher": goes, "higher lower lower lower": goes,
		"higher lower - -":           change + "lower`",
		"higher - lower higher":      "",
		"lower higher higher higher": goes, "lower higher lower lower": goes,
		"lower higher - -":         change + "higher`",
		"lower lower higher lower": "", "lower - - lower": "", "- higher higher higher": "",
		"- higher lower higher": "its state says lower and its text",
		"- lower higher higher": goes, "- lower lower lower": goes, "- lower - -": add,
		"- - higher higher": "", "- - lower lower": add, "- - - higher": "",
	} {
		t.Run(line, func(t *testing.T) {
			words := strings.Fields(line)
			for i := range words {
				words[i] = strings.Trim(words[i], "-")
			}
			want := words[3]
			says = strings.ReplaceAll(says, "%s", want)
			if says == "" && words[1] != "" {
				long.Only(t, long.Hostile)
			}
			t.Parallel()
			s := newRepository(t)
			front, text, state := "", "", ""
			if words[0] != "" {
				front = "metric_direction: " + words[0] + "\n"
			}
			if words[1] != "" {
				text = words[1] + " is better.\n"
			}
			if words[2] != "" {
				state = "| Metric Direction | " + words[2] + " |\n"
			}
			s.file(".autoloop/programs/p.md", "---\n"+front+changing+"---\n"+text+goodTarget+evaluation)
			s.file("value.txt", "5\n")
			s.commit()
			s.remember("p.md", "## Machine State\n\n| Field | Value |\n|---|---|\n| Last Run | "+
				s.at.Add(-time.Hour).Format(time.RFC3339)+" |\n| Iteration Count | 3 |\n| Best Metric | 5 |\n"+state)
			out := filepath.Join(s.dir, "bundle")
			all := map[string]answer{
				"scheduler": s.scheduler(), "validate": s.iterate("validate", "--json"),
				"iterate": s.iterate("--program", "p", "--dry-run", "--json"),
				"begin":   s.iterate("job", "begin", "--program", "p"),
				"propose": s.iterate("job", "propose", "--program", "p", "--out", out, "--json"),
			}
			for name, a := range all {
				said := strings.ReplaceAll(a.out+a.errors, `\"`, `"`)
				if says == "" {
					assert.NotContains(t, said, "metric_direction:", name)
				} else if name != "propose" || want == "" { // the job before has said it
					assert.Contains(t, said, says, name)
				}
				if name != "scheduler" {
					assert.Equal(t, want == "", a.code != 0, "%s: %s", name, said)
				}
				// The agent's number is larger than 5: better exactly when higher is.
				if name == "iterate" || name == "propose" {
					assert.Equal(t, want == "higher", strings.Contains(a.out, `"verdict": "improved"`), said)
				}
			}
			if want == "" {
				assert.Nil(t, s.plan()["selected"])
				return
			}
			assert.Equal(t, "p", s.plan()["selected"])
			assert.Equal(t, want, s.plan()["selected_metric_direction"])
			assert.Contains(t, all["validate"].out, `"metric_direction": "`+want+`"`)
		})
	}
}

// remember writes a file to the memory branch.
func (s *repository) remember(name, text string) {
	s.t.Helper()
	s.git("checkout", "--quiet", "--orphan", "memory/autoloop")
	s.git("rm", "--quiet", "-r", "-f", "--cached", ".")
	s.file(name, text)
	s.git("add", name)
	s.git("commit", "--quiet", "--message", "state")
	s.git("checkout", "--quiet", "--force", "main")
}
