package git

import "context"

// KillBatch ends the process that reads objects as another would, and reports
// whether there was one.
func KillBatch(r *Repo) bool {
	r.batch.mu.Lock()
	defer r.batch.mu.Unlock()
	if r.batch.talk == nil {
		return false
	}
	r.batch.talk.Kill()
	return true
}

// WriteThroughIndex is WriteFiles by git's own index.
func WriteThroughIndex(r *Repo, ctx context.Context, base string, files map[string]*File) (string, error) {
	return r.trees().writeThroughIndex(ctx, base, files)
}
