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

// versionIn finds the first version in what a program printed, or "".
func versionIn(text string) string { return versionNumber().FindString(text) }

// older reports whether version a comes before b, part by part as numbers.
func older(a, b string) bool { return slices.Compare(parts(a), parts(b)) < 0 }

// parts are the numbers of a version, of which those that it does not have are 0.
func parts(version string) []int {
	numbers := make([]int, 6)
	for i, part := range strings.SplitN(version, ".", len(numbers)) {
		numbers[i], _ = strconv.Atoi(part)
	}
	return numbers
}

var (
	errNotInstalled = errors.New("it is not installed")
	errNoVersion    = errors.New("it did not say its version")
)

// Version asks the installed agent for its version, in an empty home and with
// nothing of the caller's environment but where programs are.
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
	version := versionIn(string(result.Stdout))
	if version == "" {
		return "", fmt.Errorf("%w: `%s --version` ended with exit code %d %s", errNoVersion, h.agent.Program,
			result.ExitCode, plain.Short(lastLine(result.Stderr), MaxSummary))
	}
	return version, nil
}

// Outdated says that a version is too old and how to get another; "" when it is
// not.
func (h *Headless) Outdated(version string) string { return outdated(&h.agent, version) }

func outdated(d *commandline.Descriptor, version string) string {
	if !older(version, d.Oldest) {
		return ""
	}
	return fmt.Sprintf("version %s is too old (at least %s): %s", version, d.Oldest, d.Install)
}
