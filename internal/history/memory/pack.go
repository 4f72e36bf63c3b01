package memory

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/git"
)

const (
	// packAfter is how many updates, and packBytes how many bytes of them, are worth
	// packing.
	packAfter = 250
	packBytes = 8 << 20
)

// Loose objects are counted in a directory of the repository: updates has a line with
// the size of each, packed the commits that were packed up to.
const (
	packDir     = "autoloop"
	updatesFile = "updates"
	packedFile  = "packed"
)

// pack counts an update, and packs what the updates so far left when that is worth it.
// It is maintenance: what fails is tried again after a later update. Packs and files of
// others stay as they are.
func (w *writing) pack(ctx context.Context, size int) {
	dir := filepath.Join(w.Repo.CommonDir, packDir)
	if os.MkdirAll(dir, 0o755) != nil { //nolint:gosec // like the other directories of a repository
		return
	}
	updates, due := countUpdate(filepath.Join(dir, updatesFile), size)
	if !due {
		return
	}
	unlock, held, err := files.TryLock(dir, time.Duration(0))
	if err != nil || held {
		return // another process packs
	}
	defer unlock()
	tips, others, err := w.tips(ctx)
	if err != nil || len(tips) == 0 {
		return
	}
	known, _ := os.ReadFile(filepath.Join(dir, packedFile))
	for id := range strings.FieldsSeq(string(known)) {
		if _, there, err := w.Repo.Resolve(ctx, id); err == nil && there {
			others = append(others, id)
		}
	}
	if w.Repo.Pack(ctx, tips, others) != nil {
		return
	}
	_ = files.WriteFile(filepath.Join(dir, packedFile), []byte(strings.Join(tips, "\n")+"\n"), 0o644)
	_ = os.Remove(updates)
}

// countUpdate notes an update, and reports whether packing is due. Where it cannot be
// noted, nothing is packed.
func countUpdate(file string, size int) (name string, due bool) {
	out, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644) //nolint:gosec // like the other files of a repository
	if err != nil {
		return file, false
	}
	_, err = fmt.Fprintln(out, size)
	if closed := out.Close(); err != nil || closed != nil {
		return file, false
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return file, false
	}
	count, bytes := 0, 0
	for line := range strings.Lines(string(text)) {
		n := 0
		_, _ = fmt.Sscan(line, &n)
		count, bytes = count+1, bytes+n
	}
	return file, count >= packAfter || bytes >= packBytes
}

// tips are the commits of the memory branch and of program branches; others those of
// all other refs.
func (w *writing) tips(ctx context.Context) (tips, others []string, err error) {
	refs, err := w.Repo.ListRefs(ctx)
	for _, ref := range refs {
		rest, obtained := strings.CutPrefix(ref.Name, git.ObtainedRefs)
		_, known, _ := strings.Cut(rest, "/")
		switch {
		case obtained && known != "heads/"+MemoryBranch && !strings.HasPrefix(known, "heads/"+packDir+"/"):
			others = append(others, ref.ID)
		case ref.Name == memoryRef || strings.HasPrefix(ref.Name, programRefs) || strings.HasPrefix(ref.Name, "refs/autoloop/"):
			tips = append(tips, ref.ID)
		case strings.HasSuffix(ref.Name, "/"+MemoryBranch) || strings.Contains(ref.Name, "/"+packDir+"/"):
			// What is known of the remote's is reached by ours, or soon is.
		default:
			others = append(others, ref.ID)
		}
	}
	return tips, others, err
}

// looseSize is how many bytes an update adds on disk, about: its tree and its files,
// which compress to a quarter.
func (w *writing) looseSize(tree string, changed map[string]*git.File) int {
	size := 0
	if info, err := os.Stat(w.Repo.LooseFile(tree)); err == nil {
		size = int(info.Size())
	}
	for _, file := range changed {
		if file != nil {
			size += len(file.Data) / 4
		}
	}
	return size
}
