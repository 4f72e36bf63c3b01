package agent

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent/commandline"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/process"
)

// parrotReader reads what the made-up agent prints.
type parrotReader struct{ commandline.Report }

func (r *parrotReader) Out(line []byte) {
	if words, ok := bytes.CutPrefix(line, []byte("done: ")); ok {
		r.Words, r.Done = string(words), true
	}
}

// parrot is a coding agent that is in no table.
func parrot() commandline.Descriptor {
	return commandline.Descriptor{
		Name: "parrot", Program: "parrot", Install: "buy a parrot", Oldest: "2.0", Keys: []string{"PARROT_KEY"},
		Passed: []string{"PARROT_CAGE"},
		Logins: []commandline.Login{{Path: ".parrot/login.json"}}, Private: []string{".parrot"},
		Skills: ".parrot/skills", Streams: true,
		Line: func(t commandline.Task) commandline.Invocation {
			return commandline.Invocation{
				Args:  []string{"parrot", "--model", t.Model, t.Getenv("PARROT_CAGE")},
				Stdin: t.Prompt,
			}
		},
		Read: func() commandline.Reader { return &parrotReader{} },
	}
}

// TestDescriptorIsEnoughForAgent: a descriptor is all that a coding agent takes.
func TestDescriptorIsEnoughForAgent(t *testing.T) {
	t.Parallel()
	bin, home := t.TempDir(), t.TempDir()
	script := "#!/bin/sh\n[ \"$1\" = --version ] && { echo parrot 2.5; exit; }\n" +
		"test -n \"$ANTHROPIC_API_KEY\" && exit 9\n{ echo \"$*\"; cat; cat \"$HOME/.parrot/login.json\"; } > " +
		"value.txt\necho done: Repeated it.\n"
	require.NoError(t, os.WriteFile(filepath.Join(bin, "parrot"), []byte(script), 0o755))
	caller := []string{
		"PATH=" + bin + string(filepath.ListSeparator) + os.Getenv("PATH"), "HOME=" + home,
		"PARROT_CAGE=gold", "ANTHROPIC_API_KEY=another's",
	}
	registry := CommandLines(append(commandline.All(), parrot()), process.NewRunner(), caller, time.Now)
	assert.Contains(t, registry.Names(), "parrot")

	_, err := registry.Ready(t.Context(), "parrot", Request{})
	require.ErrorContains(t, err, "set PARROT_KEY, or log in with parrot")
	require.NoError(t, os.Mkdir(filepath.Join(home, ".parrot"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(home, ".parrot", "login.json"), []byte(`{"seed":1}`), 0o600))
	found := must(registry.Ready(t.Context(), "parrot", Request{}))
	assert.Equal(t, Project{Skills: ".parrot/skills", Printed: Events}, ProjectOf(found))

	request := recordedRequest(t, "parrot", metric.Limit{})
	request.Env[len(request.Env)-1] = caller[0]
	reply := must(found.Propose(t.Context(), request))
	require.Nil(t, reply.Failure)
	assert.Equal(t, "Repeated it.", reply.Summary)
	text := must(os.ReadFile(filepath.Join(request.Dir, "value.txt")))
	assert.Equal(t, "--model test-model gold\nChange value.txt.{\"seed\":1}", string(text))
}
