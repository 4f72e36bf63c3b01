package schedule_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/github/api"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/schedule"
)

const issueBody = "---\nschedule: daily\nmetric_direction: lower\n---\n## Goal\nFast.\n## Target\n`a.go`\n" +
	"## Evaluation\n```sh\necho 1\n```\n"

func issue(number int, title string) api.Issue {
	return api.Issue{Number: number, Title: title, Body: issueBody, Author: "alice"}
}

func names(programs []*program.Program) []string {
	var list []string
	for _, p := range programs {
		list = append(list, p.Name)
	}
	return list
}

func TestIssuesBecomePrograms(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 80)
	found := schedule.Discover(
		[]*program.Program{programFile("speed", "schedule: daily")},
		[]api.Issue{
			issue(9, "Speed"), issue(4, "Make Tests Fast!"), issue(5, "make tests fast"), issue(6, "!!!"),
			issue(7, long), issue(8, long),
		}, nil, nil)
	require.Empty(t, found.Warnings)
	assert.Equal(t, []string{"make-tests-fast", "make-tests-fast-5", "issue-6", long[:64], long[:62] + "-8", "speed-9"},
		names(found.Programs))
	assert.Equal(t, 4, found.Programs[0].Issue)
	assert.Equal(t, 9, found.Programs[5].Issue)
	for _, p := range found.Programs {
		require.NoError(t, program.ValidName(p.Name))
		assert.Equal(t, "lower", p.Direction.String())
	}
}

func TestStateKeepsItsName(t *testing.T) {
	t.Parallel()
	states := map[string][]byte{
		"old-name": stateFile("Issue=#4"), "speed": stateFile("Issue=#1"), "broken": []byte("hello"),
		"none": stateFile("Paused=false"),
	}
	found := schedule.Discover(nil,
		[]api.Issue{issue(4, "A new title"), issue(5, "old name"), issue(6, "Speed")}, nil, states)
	assert.Equal(t, []string{"old-name", "old-name-5", "speed-6"}, names(found.Programs),
		"the state of another issue is not taken over")
}

func TestOwnIssuesOfFilePrograms(t *testing.T) {
	t.Parallel()
	files := []*program.Program{
		programFile("speed", "schedule: daily"), programFile("size", "schedule: daily"),
		programFile("third", "schedule: daily"),
	}
	bot := issue(2, "[Autoloop: speed]")
	bot.Author = "github-actions[bot]"
	stranger := issue(6, "[Autoloop: third]")
	stranger.Author = "mallory"
	found := schedule.Discover(files,
		[]api.Issue{
			bot, issue(3, "[Autoloop: speed]"), issue(4, "[Autoloop: gone]"),
			issue(5, "renamed by a person"), stranger,
		},
		map[string]string{"github-actions[bot]": "NONE", "mallory": "NONE"},
		map[string][]byte{"size": stateFile("Issue=5")})
	assert.Equal(t, map[string]int{"speed": 2, "size": 5}, found.Linked)
	assert.Empty(t, found.Programs, "none of them is a second program")
	require.Len(t, found.Warnings, 2)
	assert.Contains(t, found.Warnings[0], "second issue of program speed, after #2")
	assert.Contains(t, found.Warnings[1], "is the own issue of program gone, which")
	assert.Equal(t, []schedule.Untrusted{{Name: "third", Issue: 6, Reason: "NONE"}}, found.Untrusted)
}

func TestStrangersTakeNoName(t *testing.T) {
	t.Parallel()
	stranger := issue(1, "Speed")
	stranger.Author = "mallory"
	found := schedule.Discover(nil, []api.Issue{stranger, issue(2, "Speed")},
		map[string]string{"mallory": "mallory is NONE"}, nil)
	assert.Equal(t, []string{"speed"}, names(found.Programs))
	assert.Equal(t, 2, found.Programs[0].Issue)
	assert.Equal(t, []schedule.Untrusted{{Name: "speed", Issue: 1, Reason: "mallory is NONE"}}, found.Untrusted)
}
