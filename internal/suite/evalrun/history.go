package evalrun

import (
	"context"
	"fmt"
	"os"
	"path"
	"strings"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/suite/evals"
)

const (
	// maxHistory bounds how many gradings are read, maxHistoryPaths how many paths
	// are looked at.
	maxHistory      = 2000
	maxHistoryPaths = 200_000
)

// History reads the gradings that stand below a directory in eval-<id>/, at any
// depth. Those that cannot be read are left out.
func History(ctx context.Context, dir string) ([]evals.PastCase, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the history: %w", err)
	}
	defer func() { _ = root.Close() }()
	seen := 0
	scanner := files.Scanner{
		Root: root, MaxEntries: maxHistory, Fault: func(string, error) error { return nil },
		Skip: func(name string) bool {
			seen++
			return seen > maxHistoryPaths || path.Base(name) == evals.OutputsDir // whatever a skill wrote there
		},
		Keep: func(name string) bool {
			return path.Base(name) == GradingFile && strings.HasPrefix(path.Base(path.Dir(name)), "eval-")
		},
	}
	list, err := scanner.List(ctx)
	var found []evals.PastCase
	for _, e := range list {
		data, err := readFile(root, e.Path, maxGradingFile)
		if err != nil {
			continue
		}
		if grading, err := evals.ParseGrading(data); err == nil {
			id := strings.TrimPrefix(path.Base(path.Dir(e.Path)), "eval-")
			found = append(found, evals.PastCase{ID: id, Grading: grading})
		}
	}
	return found, err
}
