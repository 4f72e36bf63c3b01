package long_test

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/tests/long"
)

// TestEverythingIsInstalled names at once what is missing for the long tests.
func TestEverythingIsInstalled(t *testing.T) {
	t.Parallel()
	if !long.Asked() {
		t.Skip("set AUTOLOOP_LONG=1: then everything has to be installed")
	}
	for program, from := range map[string]string{
		"act":                               "go -C tools/act build -o DIR tool, with DIR in the PATH",
		"bwrap":                             "the package bubblewrap",
		"chromium":                          "the package chromium",
		"gpg":                               "the package gnupg",
		"shellcheck":                        "the package shellcheck",
		"ssh-keygen":                        "the package openssh-client",
		"../npm/node_modules/.bin/codex":    "npm ci --prefix tests/npm",
		"../npm/node_modules/.bin/opencode": "npm ci --prefix tests/npm",
		"../npm-emulate/node_modules/node/bin/node": "npm ci --prefix tests/npm-emulate",
	} {
		_, err := exec.LookPath(filepath.FromSlash(program))
		assert.NoError(t, err, from)
	}
}
