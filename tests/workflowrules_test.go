package tests

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// TestWorkflowRulesFindViolations breaks a workflow in one place and holds that the
// rules say so.
func TestWorkflowRulesFindViolations(t *testing.T) {
	t.Parallel()
	const main, pair, simple = "autoloop.yml", "autoloop-iterate.yml", "autoloop-simple.yml"
	for name, c := range map[string]struct{ file, from, to, want string }{
		"yaml": {main, "on:\n", "on: [\n", "yaml: "},
		"script": {
			pair, `echo "there is nothing`, `echo "${{ inputs.program }} has nothing`,
			"script: propose",
		},
		"script over lines": {
			pair, `echo "there is nothing`, "echo \"${{\n            inputs.program }}",
			"script: propose",
		},
		"pin by tag": {
			main, "actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1",
			"actions/checkout@v7", "pin: ",
		},
		"pin without its version": {main, " # v7.0.1", "", "pin: "},
		"pin of another major":    {main, "org/autoloop@v1", "org/autoloop@main", "pin: "},
		"target":                  {main, "  schedule:\n", "  pull_request_target:\n  schedule:\n", "target: "},
		"permissions of all":      {main, "\npermissions: {}", "\npermissions:\n  contents: read", "permissions: "},
		"permissions as it comes": {main, "\npermissions: {}\n", "\n", "permissions: "},
		"permissions of one": {
			pair,
			"    permissions:\n      contents: read\n      issues: read # programs that are issues\n" +
				"      pull-requests: read\n      checks: read # what CI said of the last change\n" +
				"      statuses: read\n      actions: read # whether a run that was interrupted has ended\n" +
				"      models: read # the agent `models`\n", "", "permissions: propose",
		},
		"write": {pair, "      contents: read\n", "      contents: write\n", "write: propose"},
		"write to an identity": {
			pair, "      contents: read\n", "      contents: read\n      id-token: write\n",
			"write: propose",
		},
		"timeout": {pair, "    timeout-minutes: 60\n", "", "timeout: publish"},
		"secret in the job": {
			pair, "    timeout-minutes: 120\n",
			"    timeout-minutes: 120\n    env:\n      KEY: ${{ secrets.OPENAI_API_KEY }}\n", "secret: propose",
		},
		"secret in the workflow": {
			pair, "permissions: {}\n\njobs",
			"permissions: {}\nenv:\n  KEY: ${{ secrets.OPENAI_API_KEY }}\n\njobs", "secret: ",
		},
		"secret for the setup": {
			pair, "autoloop-setup.sh; fi\n",
			"autoloop-setup.sh; fi\n        env:\n          KEY: ${{ secrets.OPENAI_API_KEY }}\n", "secret: propose",
		},
		"secret as an input": {pair, "${{ vars.AUTOLOOP_MODEL }}", "${{ secrets.OPENAI_API_KEY }}", "secret: propose"},
		"secret for publishing": {
			pair, "          token: ${{ secrets.AUTOLOOP_TOKEN || github.token }}\n        env:\n",
			"        env:\n          KEY: ${{ secrets.OPENAI_API_KEY }}\n", "secret: publish",
		},
		"all secrets": {
			main, regexp.MustCompile(`(?s)    secrets:\n.*`).FindString(workflowText(t, main)),
			"    secrets: inherit\n", "secret: iterate",
		},
		"token for proposing": {
			pair, "mode: propose\n",
			"mode: propose\n          token: ${{ secrets.AUTOLOOP_TOKEN }}\n", "token: propose",
		},
		"token beside the agent": {
			pair, "          GEMINI_API_KEY: ${{ secrets.GEMINI_API_KEY }}\n      - if",
			"          GH_TOKEN: ${{ secrets.AUTOLOOP_TOKEN }}\n      - if", "token: propose",
		},
		"credentials": {
			pair, "persist-credentials: false", "persist-credentials: true",
			"checkout: propose",
		},
		"credentials by default": {simple, "          persist-credentials: false\n", "", "checkout: run"},
		"shallow":                {pair, "fetch-depth: 0", "fetch-depth: 1", "checkout: propose"},
		"fork":                   {pair, "    if: ${{ !github.event.repository.fork }}\n", "", "fork: propose"},
		"fork of the schedule": {
			main, "!cancelled() && !github.event.repository.fork && (", "!cancelled() && (",
			"fork: schedule",
		},
		"anybody's comment": {
			main,
			"\n      && contains(fromJSON('[\"OWNER\", \"MEMBER\", \"COLLABORATOR\"]'), " +
				"github.event.comment.author_association)", "", "condition: steer",
		},
		"CI of a fork": {
			main,
			"\n          && github.event.workflow_run.head_repository.full_name == github.repository", "",
			"condition: schedule",
		},
		"CI of other branches": {
			main, "\n          && startsWith(github.event.workflow_run.head_branch, 'autoloop/')",
			"", "condition: schedule",
		},
		"checks of other branches": {
			main, "\n          && startsWith(github.event.check_suite.head_branch, 'autoloop/')", "",
			"condition: schedule",
		},
		"concurrency of a pair": {
			main,
			"    concurrency:\n      group: autoloop-${{ matrix.program }}\n      cancel-in-progress: false\n", "",
			"concurrency: iterate",
		},
		"concurrency of comments": {
			main,
			"    concurrency:\n      group: autoloop-steer-${{ github.event.issue.number }}\n" +
				"      cancel-in-progress: false\n",
			"", "concurrency: steer",
		},
		"a stranger's words": {
			main, "needs.steer.outputs.selected || inputs.program", "github.event.comment.body",
			"event: schedule",
		},
		"a branch's name": {
			main, "AUTOLOOP_PAUSED: ${{ vars.AUTOLOOP_PAUSED }}",
			"BRANCH: ${{ github.event.workflow_run.head_branch }}", "event: steer",
		},
		"the whole event": {
			main, "AUTOLOOP_PAUSED: ${{ vars.AUTOLOOP_PAUSED }}",
			"EVENT: ${{ toJSON(github.event) }}", "event: steer",
		},
		"an event in brackets": {
			main, "AUTOLOOP_PAUSED: ${{ vars.AUTOLOOP_PAUSED }}",
			"EVENT: ${{ github['event'].comment.body }}", "event: steer",
		},
		"words for a called one": {
			main, "program: ${{ matrix.program }}", "program: ${{ github.event.comment.body }}",
			"event: iterate",
		},
		"words for the whole job": {
			pair, "    timeout-minutes: 120\n",
			"    timeout-minutes: 120\n    env:\n      BODY: ${{ github.event.comment.body }}\n", "event: propose",
		},
		"its own token": {
			pair, "          GEMINI_API_KEY: ${{ secrets.GEMINI_API_KEY }}\n      - if",
			"          GH_TOKEN: ${{ secrets.GITHUB_TOKEN }}\n      - if", "token: propose",
		},
		"a token for a checkout": {
			pair,
			"          persist-credentials: false\n      - if: needs.propose.outputs.bundle == 'true'\n" +
				"        uses: actions/download",
			"          persist-credentials: false\n          token: ${{ secrets.AUTOLOOP_TOKEN }}\n" +
				"      - if: needs.propose.outputs.bundle == 'true'\n        uses: actions/download", "secret: publish",
		},
		"a script that publishes": {
			pair,
			"      - if: needs.propose.outputs.bundle == 'true'\n        uses: actions/download",
			"      - run: bash .github/autoloop-setup.sh\n      - if: needs.propose.outputs.bundle == 'true'\n" +
				"        uses: actions/download", "run: publish",
		},
		"another branch": {
			pair,
			"          persist-credentials: false\n      - if: needs.propose.outputs.bundle == 'true'\n" +
				"        uses: actions/download",
			"          persist-credentials: false\n          ref: autoloop/x\n" +
				"      - if: needs.propose.outputs.bundle == 'true'\n        uses: actions/download",
			"checkout: publish",
		},
		"a cache": {
			pair,
			"      - if: needs.propose.outputs.bundle == 'true'\n        uses: actions/download",
			"      - uses: actions/cache/restore@55cc8345863c7cc4c66a329aec7e433d2d1c52a9 # v6.1.0\n" +
				"      - if: needs.propose.outputs.bundle == 'true'\n        uses: actions/download", "cache: publish",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := workflowText(t, c.file)
			require.Contains(t, text, c.from)
			found := audit(strings.Replace(text, c.from, c.to, 1), allowed[c.file]...)
			assert.True(t, slices.ContainsFunc(found, func(f string) bool { return strings.HasPrefix(f, c.want) }),
				"%q is not among %q", c.want, found)
		})
	}
}

func workflowText(t testing.TB, name string) string {
	t.Helper()
	data := readText(t, filepath.Join("..", "workflows", name))
	return data
}

// TestOwnWorkflowsKeepTheRules holds what concerns this repository's own ones.
func TestOwnWorkflowsKeepTheRules(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../.github/workflows/*.yml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		data := readText(t, file)
		for _, found := range audit(data) {
			rule, _, _ := strings.Cut(found, ":")
			assert.NotContains(t, []string{"yaml", "script", "target", "pin", "event"}, rule, "%s: %s", file, found)
			assert.NotContains(t, found, "it leaves the token", file)
		}
	}
}

// documented is a workflow in the documentation.
type documented struct{ place, text string }

var yamlFence = regexp.MustCompile("(?ms)^```ya?ml(?: [^\n]*)?\n(.*?)^```$")

// documentedWorkflows are the whole workflows in the documentation.
func documentedWorkflows(t *testing.T) []documented {
	t.Helper()
	var list []documented
	for _, file := range docPages(t) {
		data := readText(t, file)
		for _, fence := range yamlFence.FindAllStringSubmatch(data, -1) {
			var keys map[string]any
			if yaml.Unmarshal([]byte(fence[1]), &keys) == nil && keys["on"] != nil && keys["jobs"] != nil {
				list = append(list, documented{filepath.Base(file), fence[1]})
			}
		}
	}
	return list
}

// TestPartsOfExamplesKeepTheRules holds what concerns every line of YAML in the
// documentation: a part of a workflow is copied as well.
func TestPartsOfExamplesKeepTheRules(t *testing.T) {
	t.Parallel()
	script := regexp.MustCompile(`(?m)^\s*(- )?run: .*\$\{\{`)
	for _, file := range docPages(t) {
		data := readText(t, file)
		for _, fence := range yamlFence.FindAllStringSubmatch(data, -1) {
			assert.NotRegexp(t, script, fence[1], file)
			assert.Empty(t, unpinned(fence[1]), file)
		}
	}
}

func TestExamplesKeepTheRules(t *testing.T) {
	t.Parallel()
	list := documentedWorkflows(t)
	require.NotEmpty(t, list)
	w := newProject(t, nil)
	for i, e := range list {
		assert.Empty(t, audit(e.text, allowed[e.place]...), e.place)
		w.write(filepath.Join(".github", "workflows", "example-"+string(rune('a'+i))+".yml"), e.text)
	}
	w.actionlint()
}
