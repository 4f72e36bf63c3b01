package cli_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRefusalIsSameEverywhere holds that what one command refuses all others
// refuse too, in the same words, and that nothing begins.
func TestRefusalIsSameEverywhere(t *testing.T) {
	const command = "agent: command\nagent-command: 'true'\nisolation: off\n"
	const automation = "nothing may change: `%s` is automation"
	for name, c := range map[string]struct{ front, body, state, says string }{
		"prose alone": {
			command, "## Target\nThe overall `latency` of it\n" + evaluation, "", "no target: name the files",
		},
		"no evaluation":    {command, goodTarget, "", "no evaluation: add a section"},
		"no command":       {"agents: [tuner, {agent: command}]\n", "", "", "`agent: command` has no command"},
		"nothing to tune":  {"agents: [tuner]\n", "", "", "no number in the target files is marked"},
		"an unknown agent": {"agent: gpt9\n", "", "", "2: `agent`: \"gpt9\" is not accepted"},
		"a misspelt key":   {"metric_directon: lower\n" + command, "", "", "did you mean `metric-direction`?"},
		"two metrics": {
			command, "The metric is `a`. The metric is `b`.\n" + goodTarget + evaluation, "",
			"the text names two metrics",
		},
		"no skill": {
			"skill: nope\n" + command, "## Target\n- `nope/`\n", "", "nope/SKILL.md: no such file or directory",
		},
		"a skill without suite": {
			"skill: sk\n" + command, "## Target\n- `sk/`\n", "",
			"sk/evals/evals.json: there is no such",
		},
		"CI without GitHub": {
			"ci-gate: required\n" + command, "", "",
			"repository on GitHub: give --repo and a",
		},
		"no tasks": {
			"tasks: nope\n" + command, goodTarget, "", "no directory nope, which `tasks` names",
		},
		"none in a directory":   {"tasks: sk\n" + command, goodTarget, "", "there is no task.json in "},
		"shares what git knows": {"share: [value.txt]\n" + command, "", "", `share: "value.txt" is not ignored by`},
		"automation": {
			command, "## Target\nChange `.github/workflows/x.yml`.\n" + evaluation, "",
			fmt.Sprintf(automation, ".github/workflows/x.yml"),
		},
		"the program": {
			command, "## Target\nChange `.autoloop/programs/p.md`.\n" + evaluation, "",
			fmt.Sprintf(automation, ".autoloop/programs/p.md"),
		},
		"the evaluator": {
			command, "## Target\nChange `run.sh`.\n\n## Evaluation\n```sh\nsh run.sh\n```\n", "",
			fmt.Sprintf(automation, "run.sh"),
		},
		"no state": {
			command, "", "| Iteration Count | many |\n",
			"memory/autoloop:p.md:5: Iteration Count",
		},
		"no time": {
			command, "", "| Last Run | last Tuesday |\n", "memory/autoloop:p.md:5: Last Run is",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newRepository(t)
			s.file(".autoloop/programs/p.md", "---\n"+c.front+"---\n"+cmp.Or(c.body, goodTarget+evaluation))
			for file, text := range map[string]string{
				"value.txt": "5\n", "run.sh": "cat value.txt\n",
				".github/workflows/x.yml": "a: 1\n", "sk/SKILL.md": "---\nname: sk\ndescription: s\n---\nText\n",
			} {
				s.file(file, text)
			}
			s.commit()
			if c.state != "" {
				s.remember("p.md", "## Machine State\n\n| Field | Value |\n|---|---|\n"+c.state)
			}
			for _, run := range []struct {
				name string
				answer
			}{
				{"validate", s.iterate("validate")},
				{"scheduler", s.scheduler()},
				{"scheduler --program", s.scheduler("--program", "p")},
				{"status", s.iterate("status")},
				{"iterate --dry-run", s.iterate("--program", "p", "--dry-run")},
				{"iterate", s.iterate("--program", "p")},
				{"begin", s.iterate("job", "begin", "--program", "p")},
				{"propose", s.iterate("job", "propose", "--program", "p", "--out", filepath.Join(s.dir, "bundle"))},
			} {
				assert.Contains(t, strings.Join(strings.Fields(run.out+run.errors), " "), c.says, run.name)
				if run.name != "scheduler" && run.name != "status" {
					assert.NotZero(t, run.code, run.name)
				}
			}
			assert.Nil(t, s.plan()["selected"])
			assert.NoDirExists(t, filepath.Join(s.dir, "bundle"))
		})
	}
}

// TestOriginalsPendingStatus is on no ledger: nothing here waits, so that
// all commands go on.
func TestOriginalsPendingStatus(t *testing.T) {
	s := repositoryOf(t, changing)
	s.remember("p.md", "## Machine State\n\n| Field | Value |\n|---|---|\n| Last Run | "+
		s.at.Add(-time.Hour).Format(time.RFC3339)+
		" |\n| Iteration Count | 3 |\n| Best Metric | 5 |\n| Recent Statuses | accepted, pending-ci |\n")
	require.Zero(t, s.scheduler().code)
	assert.Equal(t, "p", s.plan()["selected"])
	var list []struct{ State string }
	require.NoError(t, json.Unmarshal([]byte(s.iterate("status", "--json").out), &list))
	assert.Equal(t, "pending", list[0].State)
	assert.Zero(t, s.iterate("--dry-run").code)
	assert.Zero(t, s.iterate("job", "begin").code)
}

// TestHiddenCharactersAreNotPrinted of a state's reasons and of what a refusal quotes, in
// any command.
func TestHiddenCharactersAreNotPrinted(t *testing.T) {
	const hidden = "\x1b[31mRED\x1b]0;title\x07\u202eback\u2066\x08\u009b2J"
	s := newRepository(t)
	for name, front := range map[string]string{
		"paused": "", "tasks": "tasks: \"no/\\e[31m\\u202eback\"\n", "share": "share: [\"no/\\e[31m\\u202eback\"]\n",
	} {
		s.file(".autoloop/programs/"+name+".md", "---\n"+front+changing+"---\n"+goodTarget+evaluation)
	}
	s.file("value.txt", "5\n")
	s.commit()
	s.remember("paused.md", "## Machine State\n\n| Field | Value |\n|---|---|\n| Last Run | 2026-01-01T00:00:00Z |\n"+
		"| Paused | true |\n| Pause Reason | "+hidden+" |\n")
	answers := map[string]answer{
		"scheduler": s.scheduler(), "validate": s.iterate("validate"),
		"status": s.iterate("status"),
	}
	for _, name := range []string{"paused", "tasks", "share"} {
		answers["iterate "+name] = s.iterate("--program", name)
		answers["dry run of "+name] = s.iterate("--program", name, "--dry-run")
		answers["begin "+name] = s.iterate("job", "begin", "--program", name)
		answers["propose "+name] = s.iterate("job", "propose", "--program", name, "--out", filepath.Join(s.dir, name))
		answers["log "+name] = s.iterate("log", name)
	}
	for command, a := range answers {
		assert.NotRegexp(t, "[\x00-\x08\x0b-\x1f\x7f\u0080-\u009f\u202a-\u202e\u2066-\u2069]", a.out+a.errors, command)
	}
	assert.Contains(t, answers["scheduler"].out, "paused: REDback")
}
