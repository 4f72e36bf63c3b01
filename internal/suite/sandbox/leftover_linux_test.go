package sandbox_test

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestChecksLeaveNoProcessBehind holds for a child in a session of its own too,
// whether the check ends by itself or runs out of time.
func TestChecksLeaveNoProcessBehind(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"ends":  `setsid sh -c 'echo $$ > pid; exec sleep 600' & until test -s pid; do :; done`,
		"hangs": `setsid sh -c 'echo $$ > pid; exec sleep 600'; sleep 600`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			box, in := open(t, nil, nil)
			var text []byte
			var err error
			for limit := time.Second; len(text) == 0 &&
				limit < 5*time.Minute; limit *= 4 { // how long the child takes to start is the machine's affair
				_, _, _, err = box.Check(t.Context(), 0, ".", command(script), "", limit)
				require.NoError(t, err)
				text, err = os.ReadFile(in.at("pid"))
			}
			require.NoError(t, err)
			pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
			require.NoError(t, err)
			assert.Equal(t, syscall.ESRCH, syscall.Kill(pid, 0))
		})
	}
}
