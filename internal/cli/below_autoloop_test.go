package cli_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The shapes of the programs that come with the original: they keep the code that is
// to change beside the program.
const (
	trains = "# Research\n\n## Goal\n\nLower `val_bpb`. Everything in `train.sh` is fair game.\n\n" +
		"- Read `.autoloop/programs/p/code/prepare.sh` for fixed constants (DO NOT MODIFY)\n\n## Target\n\n" +
		"Only modify these files:\n\n" +
		"- `.autoloop/programs/p/code/train.sh` -- the training script: model, optimizer\n\nDo NOT modify:\n\n" +
		"- `.autoloop/programs/p/code/prepare.sh` -- fixed evaluation harness\n" +
		"- The `run_packing`, `visualize` functions outside the evolve block in `train.sh`\n\n" +
		"## Evaluation\n\n```bash\ncd .autoloop/programs/p/code && timeout 360 sh train.sh > run.log 2>&1; cat " +
		"run.log | sh -c '\nread n\necho \"{\\\"score\\\": $n}\"\n'\n```\n\n" +
		"The metric is `score`. **Higher is better** (it is `1/val_bpb`, so lower val_bpb = higher score).\n"
	covers = "# Coverage\n\n## Target\n\nOnly modify or create files in the test directory (e.g., `tests/`).\n\n" +
		"Do NOT modify:\n- Source code (only tests)\n- CI/CD workflows\n\n" +
		"## Evaluation\n\n```bash\nls tests/ | wc -l\n```\n"
)

// TestProgramsBesideTheirCodeRun: a list item that begins with a path below .autoloop
// opens it; nothing else there may change.
func TestProgramsBesideTheirCodeRun(t *testing.T) {
	const code = ".autoloop/programs/p/code/"
	for name, c := range map[string]struct{ text, edit, outcome, says string }{
		"what the list names": {trains, "echo 'echo 7' > " + code + "train.sh", "accepted", ""},
		"what the list denies": {
			trains,
			"echo 'echo 7' > " + code + "train.sh; echo x > " + code + "prepare.sh", "rejected", "prepare.sh",
		},
		"the program itself": {
			trains,
			"echo 'echo 7' > " + code + "train.sh; echo >> .autoloop/programs/p/program.md", "rejected", "program.md",
		},
		"a new file beside it": {
			trains, "echo 'echo 7' > " + code + "train.sh; echo x > " + code + "x.sh",
			"rejected", "x.sh",
		},
		"a directory within brackets":   {covers, "echo 1 > tests/b", "accepted", ""},
		"what that directory is beside": {covers, "echo 1 > tests/b; echo 1 > src.txt", "rejected", "src.txt"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShop(t)
			s.file(".autoloop/programs/p/program.md",
				"---\nschedule: every 6h\nevaluation-runs: 1\nisolation: off\nagent: command\nagent-command: |-\n  "+
					c.edit+"\n---\n"+c.text)
			for file, text := range map[string]string{
				code + "train.sh": "echo 5\n", code + "prepare.sh": ":\n",
				"src.txt": "\n", "tests/a": "\n",
			} {
				s.file(file, text)
			}
			s.commit()
			require.Zero(t, s.iterate("validate").code)
			a := s.iterate("--program", "p", "--json")
			require.Zero(t, a.code, a.errors)
			var list []struct {
				Outcome string
				Reasons []string
			}
			require.NoError(t, json.Unmarshal([]byte(a.out), &list), a.out)
			assert.Equal(t, c.outcome, list[0].Outcome, list[0].Reasons)
			assert.Contains(t, strings.Join(list[0].Reasons, "\n"), c.says)
		})
	}
}
