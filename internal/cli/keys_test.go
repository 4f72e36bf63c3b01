package cli_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/program"
)

func TestKeysListsEveryKey(t *testing.T) {
	d := newDesk(t)
	text := d.iterate("validate", "--keys")
	require.Zero(t, text.code)
	assert.NotContains(t, text.out, "](")
	asJSON := d.iterate("validate", "--keys", "--json")
	require.Zero(t, asJSON.code)
	var list []struct {
		Name          string
		Default, Help string
		ChangesNumber bool `json:"changes_number"`
	}
	require.NoError(t, json.Unmarshal([]byte(asJSON.out), &list))
	require.Len(t, list, len(program.Keys()))
	for i, key := range program.Keys() {
		assert.Equal(t, key.Name, list[i].Name)
		assert.NotEmpty(t, list[i].Default, key.Name)
		assert.NotEmpty(t, list[i].Help, key.Name)
		assert.Equal(t, key.ChangesNumber(), list[i].ChangesNumber, key.Name)
		assert.Contains(t, text.out, "\n"+key.Name+" ", key.Name)
	}
}
