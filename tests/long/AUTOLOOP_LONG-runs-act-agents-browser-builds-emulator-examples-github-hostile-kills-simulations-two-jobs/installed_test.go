// Package installed has the directory that it has for its line in what `go test
// ./...` prints: that hides the output of tests that pass, so the path says what
// was left out, and the line ends with "[no tests to run]" when it was.
package installed

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/tests/long"
)

// TestEverythingIsInstalled names at once what is missing for the long tests.
func TestEverythingIsInstalled(t *testing.T) {
	if !long.Asked() {
		// What package testing says of a run without tests, from where go test
		// takes it. Here, and not in a TestMain: what that reads of the environment
		// is not known to the cache of test results.
		fmt.Print("\ntesting: warning: no tests to run\n")
		return
	}
	for program, from := range map[string]string{
		"act":                                  "go -C tools/act build -o DIR tool, with DIR in the PATH",
		"bwrap":                                "the package bubblewrap",
		"chromium":                             "the package chromium",
		"gpg":                                  "the package gnupg",
		"shellcheck":                           "the package shellcheck",
		"ssh-keygen":                           "the package openssh-client",
		"../../npm/node_modules/.bin/codex":    "npm ci --prefix tests/npm",
		"../../npm/node_modules/.bin/opencode": "npm ci --prefix tests/npm",
		"../../npm-emulate/node_modules/node/bin/node": "npm ci --prefix tests/npm-emulate",
	} {
		_, err := exec.LookPath(filepath.FromSlash(program))
		assert.NoError(t, err, from)
	}
}
