package app

import (
	"sync"

	"github.com/org/autoloop/internal/git"
)

// repos are the repositories that a command has opened.
type repos struct {
	mu   sync.Mutex
	open []*git.Repo
}

// Closing returns env for one command, and what closes the repositories that the
// command opens with it. A git process that is left behind would have nobody who waits
// for it where process 1 is no init, as in a container.
func (e Env) Closing() (env Env, done func()) {
	e.repos = &repos{}
	return e, e.repos.close
}

// opened notes a repository, where there is somebody to close it.
func (e Env) opened(repo *git.Repo) {
	if e.repos != nil {
		e.repos.mu.Lock()
		defer e.repos.mu.Unlock()
		e.repos.open = append(e.repos.open, repo)
	}
}

func (r *repos) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, repo := range r.open {
		repo.Close()
	}
}
