package api_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/github/githubtest"
)

func TestChecksAndStatuses(t *testing.T) {
	t.Parallel()
	h := newHub(t, nil, func(s *githubtest.State) {
		s.Report("c1", "build", "success", "", noon)
		s.Report("c1", "test", "", "", noon)
		failed := s.Report("c1", "lint", "failure", "3 problems", noon)
		failed.Annotations = []string{"bad\nname"}
		s.ID++
		s.Checks = append(s.Checks, &githubtest.Check{
			ID: s.ID, Commit: "c1", Name: "legacy", Status: true,
			Conclusion: "error", Summary: "broke", Started: noon,
		})
		s.Report("c2", "build", "failure", "", noon)
	})
	checks, err := h.Checks(t.Context(), "c1")
	require.NoError(t, err)
	require.Len(t, checks, 4)
	assert.Equal(t, "in_progress", checks[1].Status)
	assert.Equal(t, "failure", checks[3].Conclusion)
	lines, err := h.Annotations(t.Context(), checks[2].ID)
	require.NoError(t, err)
	assert.Equal(t, []string{"file0.go: bad name"}, lines)
	require.NoError(t, h.Dispatch(t.Context(), "ci.yml", "autoloop/p"))
	h.Change(func(s *githubtest.State) { assert.Equal(t, []string{"ci.yml autoloop/p"}, s.Dispatched) })
}

func TestManyStrangersPushNobodyAside(t *testing.T) {
	t.Parallel()
	h := newHub(t, nil, func(s *githubtest.State) {
		for i := range 150 {
			s.Permissions[fmt.Sprintf("member%03d", i)] = "write"
		}
		s.Permissions["reader"], s.Permissions["boss"] = "read", "admin"
	})
	logins := []string{"reader", "boss", "Member149"}
	for i := range 300 {
		logins = append(logins, fmt.Sprintf("stranger%d", i))
	}
	h.Fail(githubtest.Fault{Kind: githubtest.BadGateway, Path: "/collaborators", Times: 1000})
	for _, few := range [][]string{logins, logins[:1]} {
		_, _, err := h.Writers(t.Context(), few)
		assert.True(t, unavailable(err), "%v", err)
	}
	h.Mend()
	h.Calls()
	for range 2 {
		writers, refused, err := h.Writers(t.Context(), logins)
		require.NoError(t, err)
		require.NoError(t, refused)
		assert.Equal(t, map[string]bool{"boss": true, "Member149": true}, writers)
	}
	assert.Len(t, h.Calls(), 2, "two pages, once")
}

func TestTokenThatMayNotListPeople(t *testing.T) {
	t.Parallel()
	h := newHub(t, nil, func(s *githubtest.State) {
		s.Permissions["bob"], s.NoPeople = "write", true
	})
	writers, refused, err := h.Writers(t.Context(), []string{"bob", "mallory", "eve"})
	require.NoError(t, err)
	require.NoError(t, refused)
	assert.Equal(t, map[string]bool{"bob": true}, writers)
	h.Change(func(s *githubtest.State) { s.NoPermissions = true })
	writers, refused, err = h.Writers(t.Context(), []string{"carol"})
	require.NoError(t, err)
	require.Error(t, refused)
	assert.Empty(t, writers)
}
