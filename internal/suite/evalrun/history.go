package evalrun

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

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
	var found []evals.PastCase
	seen := 0
	err = fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if seen++; ctx.Err() != nil || seen > maxHistoryPaths || len(found) >= maxHistory {
			return fs.SkipAll
		}
		if err != nil || !entry.Type().IsRegular() {
			if err == nil && entry.IsDir() && entry.Name() == evals.OutputsDir {
				return fs.SkipDir // whatever a skill wrote there
			}
			return nil
		}
		id, isCase := strings.CutPrefix(path.Base(path.Dir(name)), "eval-")
		if entry.Name() != GradingFile || !isCase {
			return nil
		}
		if data, err := readFile(root, name, maxGradingFile); err == nil {
			if grading, err := evals.ParseGrading(data); err == nil {
				found = append(found, evals.PastCase{ID: id, Grading: grading})
			}
		}
		return nil
	})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return found, err
}
