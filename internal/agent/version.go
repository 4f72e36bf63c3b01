package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/org/autoloop/internal/agent/commandline"
	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/process"
)

// versionTime bounds how long an agent may take to say its version.
const versionTime = time.Minute

var versionNumber = lazyregexp.New(`\d+(?:\.\d+)+`)

// parts are the numbers of a version, of which those that it does not have are 0.
func parts(version string) []int {
	numbers := make([]int, 6)
	for i, part := range strings.SplitN(version, ".", len(numbers)) {
		numbers[i], _ = strconv.Atoi(part)
	}
	return numbers
}

var errNotInstalled = errors.New("it is not installed")

// Version asks the installed agent for its version, in an empty home and with
// nothing of the caller's environment but where programs are. One that is too old is an
// error too.
func (h *Headless) Version(ctx context.Context) (string, error) {
	home, err := os.MkdirTemp(process.Getenv(h.caller, "TMPDIR"), "autoloop-version-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(home) }()
	result, err := h.runner.Run(ctx, process.Spec{
		Args: []string{h.agent.Program, "--version"}, Dir: home, Env: process.Environment(h.caller, home, nil),
		Timeout: versionTime,
	})
	switch {
	case err != nil:
		return "", err
	case result.Cancelled:
		return "", context.Cause(ctx)
	case result.NotFound:
		return "", errNotInstalled
	}
	version := versionNumber().FindString(string(result.Stdout))
	if version == "" {
		return "", fmt.Errorf("it did not say its version: `%s --version` ended with exit code %d %s", h.agent.Program,
			result.ExitCode, plain.Short(lastLine(result.Stderr), MaxSummary))
	}
	return version, outdated(h.agent, version)
}

// outdated is the error of a version that is too old, and how to get another.
func outdated(d commandline.Descriptor, version string) error {
	if slices.Compare(parts(version), parts(d.Oldest)) >= 0 {
		return nil
	}
	return fmt.Errorf("version %s is too old (at least %s): %s", version, d.Oldest, d.Install)
}
