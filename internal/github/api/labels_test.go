package api_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/github/api"
	"github.com/org/autoloop/internal/github/githubtest"
)

func TestLabelsAreMadeOnce(t *testing.T) {
	t.Parallel()
	h := newHub(t, nil, func(s *githubtest.State) { s.Labels = []string{"bug"} })
	label := api.Label{Name: "autoloop", Color: "c5def5", Description: "Belongs to Autoloop"}
	require.NoError(t, h.CreateLabel(t.Context(), label))
	require.NoError(t, h.CreateLabel(t.Context(), label), "somebody else made it meanwhile")
	labels, err := h.Labels(t.Context())
	require.NoError(t, err)
	require.Len(t, labels, 2)
	assert.Equal(t, "autoloop", labels[1].Name)
	label.Name = ""
	assert.Error(t, h.CreateLabel(t.Context(), label))
}
