package taskrun

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/org/autoloop/internal/document"
	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/suite/format"
)

// maxOutcomeFile bounds what is read of one file.
const maxOutcomeFile = 64 << 20

// ReadOutcome reads the outcome of a suite, which is called name in errors.
func ReadOutcome(file, name string) (format.SuiteOutcome, error) {
	data, err := readBounded(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return format.SuiteOutcome{}, misuse.Errorf("%s does not exist", name)
	case err != nil:
		return format.SuiteOutcome{}, misuse.Errorf("read %s: %w", name, files.Cause(err))
	}
	outcome, problems := format.ParseOutcome(name, data)
	if len(problems) > 0 {
		return format.SuiteOutcome{}, misuse.Errorf("%s", firstOf(problems))
	}
	return outcome, nil
}

func readBounded(file string) ([]byte, error) {
	in, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }()
	return io.ReadAll(io.LimitReader(in, maxOutcomeFile+1))
}

// firstOf joins the first problems to one line.
func firstOf(problems document.Problems) string {
	const most = 5
	var lines []string
	for _, problem := range problems[:min(most, len(problems))] {
		lines = append(lines, problem.String())
	}
	if more := len(problems) - most; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "; ")
}
