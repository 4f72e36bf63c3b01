package tests

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/long"
)

// scattered are lines of noise that are the same in every project.
func scattered(count int) []string {
	chance := rand.New(rand.NewPCG(3, 5))
	list := make([]string, count)
	for i := range list {
		list[i] = fmt.Sprintf("%d %d", chance.IntN(20), chance.IntN(20))
	}
	return list
}

// disorder is bytes without an order, the same ones each time.
func disorder(count int) []byte {
	chance, data := rand.New(rand.NewPCG(7, 11)), make([]byte, count)
	for i := range data {
		data[i] = byte(chance.IntN(256))
	}
	return data
}

// TestTwoJobsComeToWhatOneDoes runs programs of every kind in one job and in
// two; branch, ledger, table and state are the same, and hold when every
// decision is computed again.
func TestTwoJobsComeToWhatOneDoes(t *testing.T) {
	long.Only(t, long.TwoJobs)
	t.Parallel()
	for name, c := range map[string]struct {
		outcomes string
		project  func(t *testing.T) *project
		// ordered says that what is measured, or how often a side was run when the
		// trial ended early, depends on the order of the runs, which is another one in
		// every trial.
		ordered bool
	}{
		"a repeatable metric": {outcomes: "accepted rejected rejected accepted", project: func(t *testing.T) *project {
			t.Helper()
			return noisyProject(t, "guardrails: [{metric: rail, direction: higher, max-regression: 50%}]", nil,
				"1100", "1100",
				"1050", "1200")
		}},
		"a noisy metric": {outcomes: "accepted rejected rejected", project: func(t *testing.T) *project {
			t.Helper()
			w := noisyProject(t, "timeout-minutes: 90", scattered(400), "5000", "5001", "4000")
			const counter, own = `n=$(<"$SIDE/count")`,
				`read -r value < value.txt; n=$(cat "$SIDE/count-$value" || echo 0)`
			text := w.read(".autoloop/programs/p.md")
			require.Contains(t, text, counter)
			text = strings.Replace(text, counter, own, 1)
			w.write(".autoloop/programs/p.md",
				strings.Replace(text, `> "$SIDE/count"`, `> "$SIDE/count-$value"`, 1)) // the same noise in any order
			w.commit("count for each side")
			return w
		}},
		"a metric that turns out noisy": {
			outcomes: "rejected accepted", ordered: true,
			project: func(t *testing.T) *project {
				t.Helper()
				return noisyProject(t, "", append([]string{"0", "0", "5"}, scattered(400)...), "900", "9000")
			},
		},
		"a suite of tasks": {outcomes: "rejected accepted", project: func(t *testing.T) *project {
			t.Helper()
			return agentConfigProject(t, "", "Nothing of use.", "Keep a changelog. A fixed bug gets a test.")
		}},
		"a skill": {outcomes: "accepted rejected accepted", project: func(t *testing.T) *project {
			t.Helper()
			return skillProject(t, "",
				`case $AUTOLOOP_ITERATION in 1) echo beta >> s/SKILL.md ;; 2) echo x >> s/SKILL.md ;; 3) echo gamma `+
					`>> s/SKILL.md ;; esac`)
		}},
		"a skill that may lose no case": {
			outcomes: "accepted rejected", ordered: true,
			project: func(t *testing.T) *project {
				t.Helper()
				return skillProject(t, "evaluation-runs: 4\nno-case-regression: true\ntimeout-minutes: 90",
					`case $AUTOLOOP_ITERATION in 1) echo beta >> s/SKILL.md ;; 2) printf 'beta gamma delta\n' > `+
						`s/SKILL.md ;; esac`)
			},
		},
		"several candidates": {outcomes: "accepted rejected", project: func(t *testing.T) *project {
			t.Helper()
			return severalProject(t, "agent: command\ncandidates: 4", `case $2 in
1) echo 3 > value.txt ;; 2) echo 5 > value.txt ;; 3) echo 9 > other.txt ;; 4) exit 3 ;;
esac
echo "proposal $2"`)
		}},
		"a population": {outcomes: "", project: func(t *testing.T) *project {
			t.Helper()
			return newProject(t, map[string]string{".autoloop/programs/p.md": evolving, "value.txt": "1\n"})
		}},
		"notes": {outcomes: "rejected rejected", project: func(t *testing.T) *project {
			t.Helper()
			return newProject(t, map[string]string{".autoloop/programs/p.md": handingBack, "value.txt": "1\n"})
		}},
		"links": {outcomes: "accepted rejected rejected rejected", project: func(t *testing.T) *project {
			t.Helper()
			w := linksProject(t, "ln -sfn b v/link; echo 5 > v/n", "ln -sfn ../../etc v/link; echo 6 > v/n",
				"ln -sfn /etc v/link; echo 7 > v/n", "echo 8 > other; echo 8 > v/n")
			return w
		}},
		"a binary file": {outcomes: "accepted accepted", project: func(t *testing.T) *project {
			t.Helper()
			w := linksProject(t, `cp "$SIDE/blob" v/bin; echo 5 > v/n`, "printf x >> v/bin; echo 6 > v/n")
			w.aside("blob", string(disorder(100_000)))
			return w
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole, split := c.project(t), c.project(t)
			want := strings.Fields(c.outcomes)
			if len(want) == 0 {
				want = make([]string, 6)
			}
			for i, outcome := range want {
				one := whole.one()
				dir, proposed := split.propose(fmt.Sprintf("bundle-%d", i))
				two := split.publish(dir)
				if outcome != "" {
					require.Equal(t, outcome, one.Outcome, one.Reasons)
				}
				require.Equal(t, one.Outcome, proposed.Outcome, proposed.Reasons)
				require.Equal(t, one.Outcome, two.Outcome, two.Reasons)
				if !c.ordered {
					require.Equal(t, text(one.Metric), text(two.Metric))
					require.Equal(t, text(one.Best), text(two.Best))
				}
			}
			if !c.ordered {
				assert.Equal(t, whole.recorded(), strings.ReplaceAll(split.recorded(), "the proposing job says: ", ""),
					"but for whose words they are")
			}
			a := split.binary("iterate", "replay", "p")
			assert.Zero(t, a.code, a.stdout)
		})
	}
}

// linksProject is a project whose agent runs line N of a script; the metric is in v/n.
func linksProject(t *testing.T, lines ...string) *project {
	t.Helper()
	front := strings.Replace(
		fmt.Sprintf(values, "metric_direction: higher"),
		"agent-command: sed -n \"${AUTOLOOP_ITERATION}p\" \"$SIDE/values\" > value.txt && echo \"try $(cat value.txt)\"",
		`agent-command: eval "$(sed -n "${AUTOLOOP_ITERATION}p" "$SIDE/lines")"`,
		1,
	)
	front = strings.ReplaceAll(strings.ReplaceAll(front, "`value.txt`", "`v/n`\n- `v/`"), "$(cat value.txt)\"\n",
		"$(cat v/n)\"\n[ -e \"$SIDE/works\" ]\n")
	w := newProject(t, map[string]string{".autoloop/programs/p.md": front, "v/n": "1\n", "v/b": "b\n", "other": "x\n"})
	w.aside("lines", strings.Join(lines, "\n"))
	w.aside("works", "")
	return w
}

// recorded is all that is recorded, without times, ids and the note of a bundle.
func (w *project) recorded() string {
	w.t.Helper()
	var out strings.Builder
	for _, e := range w.facts("") {
		if e["key"] != "published" && e["event"] != "started" && e["event"] != "pushed" &&
			(e["event"] != "finished" || e["outcome"] != nil) {
			fmt.Fprintln(&out, e["event"], e["iteration"], e["role"], e["stage"], e["metric"], e["samples"],
				e["outcome"],
				e["verdict"], e["delta"], e["best"], e["proposal"],
				e["summary"], told(w.t, e["reasons"]), e["evaluator"], e["changed"], e["digest"],
				e["lessons"], e["noisy"],
				e["patch"],
				e["numbers"], e["case_samples"], e["guardrail_samples"], e["rejected_reason"], e["problem"],
				e["params"],
				e["usage"], e["evaluation"])
		}
	}
	for line := range strings.Lines(w.memory("p.results.tsv")) {
		fields := strings.Split(line, "\t")
		out.WriteString(strings.Join(append(fields[:1:1], fields[2:]...), "\t"))
	}
	for line := range strings.Lines(w.memory("p.md")) {
		if strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, "| Last Run") || strings.HasPrefix(line, "- ") &&
			!strings.Contains(line, "Commit") {
			out.WriteString(line)
		}
	}
	if w.git("for-each-ref", "refs/heads/autoloop/p") != "" {
		out.WriteString(w.git("rev-parse", "autoloop/p^{tree}"))
	}
	return out.String()
}

// evolving is a program whose agent adds a line to what it finds, and notes
// what it found, what it made and what it was told.
const evolving = `---
metric: m
evaluation-runs: 1
strategy: openevolve
agent: command
agent-command: |
  cp value.txt "$SIDE/began-$AUTOLOOP_ITERATION"
  cp "$AUTOLOOP_PROMPT" "$SIDE/prompt-$AUTOLOOP_ITERATION"
  echo "$AUTOLOOP_ITERATION" >> value.txt
  cp value.txt "$SIDE/made-$AUTOLOOP_ITERATION"
  echo "add $AUTOLOOP_ITERATION"
env: [SIDE]
---
## Goal
Find good sums.
## Target
- ` + "`value.txt`" + `
## Evaluation
` + "```sh" + `
printf '{"m": %s}\n' "$(awk '{s += $1 * $1} END {print s % 17}' value.txt)"
` + "```" + `
`

// handingBack is an agent that also writes down what it learned, and keeps the
// prompt beside the repository.
const handingBack = `---
metric: m
evaluation-runs: 1
agent: command
agent-command: |
  cp "$AUTOLOOP_PROMPT" "$SIDE/prompt.md"
  echo "- LESSON: The number $(cat value.txt) is few." > .autoloop-notes.md
  echo "FORECLOSED: half of it <b>" >> .autoloop-notes.md
  echo 0 > value.txt
env: [SIDE]
---
## Goal
Move the number.
## Target
- ` + "`value.txt`" + `
## Evaluation
` + "```sh" + `
test ! -e .autoloop-notes.md
printf '{"m": %s}\n' "$(cat value.txt)"
` + "```" + `
`

// several is a program with as many proposals as the front says; each runs the
// shell script SIDE/propose with the numbers of the iteration and its own. Every
// evaluation leaves a line beside the repository.
const several = `---
%s
metric: m
evaluation-runs: 1
agent-command: sh "$SIDE/propose" "$AUTOLOOP_ITERATION" "$AUTOLOOP_PROPOSAL"
env: [SIDE]
---
## Goal
Move the number.
## Target
- ` + "`value.txt`" + `
## Evaluation
` + "```sh" + `
cat value.txt >> "$SIDE/measured"
printf '{"m": %%s}\n' "$(cat value.txt)"
` + "```" + `
`

func severalProject(t *testing.T, front, propose string) *project {
	t.Helper()
	w := newProject(t, map[string]string{
		".autoloop/programs/p.md": fmt.Sprintf(several, front), "value.txt": "1\n",
		"other.txt": "x\n",
	})
	w.aside("propose", propose)
	return w
}
