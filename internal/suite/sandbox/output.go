package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/suite/evals"
)

const (
	// maxKept and maxKeptFiles bound what is kept of outputs/.
	maxKept      = 64 << 20
	maxKeptFiles = 2000
)

// outputs opens the directory in which results belong; what an agent put in its
// place is not followed.
func (b *Box) outputs() (*os.Root, error) {
	if !b.intact() {
		return nil, errors.New("the sandbox's directory was removed or exchanged")
	}
	info, err := b.root.Lstat(evals.OutputsDir)
	if err == nil && !info.IsDir() {
		return nil, errors.New("it is no directory any more")
	}
	if err != nil {
		return nil, err
	}
	return b.root.OpenRoot(evals.OutputsDir)
}

// Output looks at a path below outputs/, without leaving that directory.
func (b *Box) Output(name string) evals.Output {
	root, err := b.outputs()
	if errors.Is(err, fs.ErrNotExist) {
		return evals.Output{} // the agent removed its outputs
	}
	if err != nil {
		return evals.Output{Problem: files.Cause(err).Error()}
	}
	defer func() { _ = root.Close() }()
	local := filepath.FromSlash(name)
	if _, err := root.Lstat(local); errors.Is(err, fs.ErrNotExist) {
		return evals.Output{}
	} else if err != nil {
		return evals.Output{Exists: true, Problem: "it cannot be looked at: " + files.Cause(err).Error()}
	}
	found := evals.Output{Exists: true}
	if info, err := root.Stat(local); err != nil {
		found.Problem = "it cannot be looked at inside outputs/: " + files.Cause(err).Error()
	} else {
		found.Data, found.Problem = readInside(root, local, info)
	}
	return found
}

// Shell runs a command in outputs/, which $OUTPUTS_DIR names, with a home of its own, and says why it
// fails the check, "" when it ended with exit code 0. The error is for failures
// of our own and for the end of ctx.
func (b *Box) Shell(ctx context.Context, number int, text string, timeout time.Duration) (why string, err error) {
	root, err := b.outputs()
	if err != nil {
		return "outputs/: " + files.Cause(err).Error(), nil
	}
	_ = root.Close()
	outputs := filepath.Join(b.Dir, evals.OutputsDir)
	result, err := b.command(ctx, checkHome(number), text,
		process.Spec{Dir: outputs, Timeout: timeout, Offline: b.maker.Offline}, "OUTPUTS_DIR="+outputs)
	switch {
	case err != nil:
		return "", err
	case result.TimedOut:
		return fmt.Sprintf("it took longer than %s", timeout), nil
	}
	return b.masker.OneLine(verdict(result, true), maxDetail), nil
}

// Kept is a file that was kept of outputs/.
type Kept struct {
	// Path is relative to outputs/, with slashes.
	Path string
	Size int64
}

// KeepOutputs copies the regular files below outputs/ to a directory, which is
// made, and lists them. Links and special files are left out, and so is what
// goes beyond 2,000 files or 64 MiB; left counts them.
func (b *Box) KeepOutputs(ctx context.Context, to string) (kept []Kept, left int, err error) {
	if err := os.MkdirAll(to, 0o700); err != nil {
		return nil, 0, err
	}
	source, err := b.outputs()
	if err != nil {
		return nil, 0, nil // the agent removed its outputs
	}
	defer func() { _ = source.Close() }()
	found, err := readLeft(ctx, source)
	if err != nil {
		return nil, 0, err
	}
	target, err := os.OpenRoot(to)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = target.Close() }()
	total, copying := int64(0), copier(source, target)
	copying.Mode = func(Entry) fs.FileMode { return 0o600 }
	for _, e := range found {
		if e.Mode.IsDir() {
			continue
		}
		if !e.IsFile() || e.SHA256 == "" || len(kept) >= maxKeptFiles || total+e.Size > maxKept ||
			copying.Entry(&e) != nil {
			left++
			continue
		}
		total += e.Size
		kept = append(kept, Kept{e.Path, e.Size})
	}
	return kept, left, nil
}
