package golden

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Table makes a subtest of each row, INPUT => WANT, and holds what got makes of the input
// against it, word by word. A row without an arrow has its line in testdata, where sentences belong.
func Table(t *testing.T, rows map[string]string, got func(t *testing.T, input string) any) {
	t.Helper()
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			input, want, here := strings.Cut(row, "=>")
			value := got(t, input)
			if !here {
				Line(t, value)
				return
			}
			assert.Equal(t, strings.Fields(want), strings.Fields(fmt.Sprint(value)))
		})
	}
}
