package memory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
)

// Update is one change of a program's records.
type Update struct {
	Program string
	Message string
	// Apply makes the new files from the current ones; a file that it returns as
	// nil is removed. It is called again on fresh files each time that another
	// writer was faster; its error ends the update.
	Apply func(current Files) (Files, error)
	// Branch, optional, moves in the same transaction as the records. Its Old is
	// held against what Memory.HeadOf says.
	Branch *git.RefUpdate
	// Claims, optional, is the full name of a ref that a later update will move:
	// that something keeps it from moving is found out now.
	Claims string
}

// ErrBranchMoved says that the branch of an Update is not at its Old.
var ErrBranchMoved = errors.New("the branch has moved in the meantime")

const (
	// retryTime bounds how long a lost race is tried again, retryRemote with a remote,
	// where dozens of runners may push at the same moment.
	retryTime   = 30 * time.Second
	retryRemote = 2 * time.Minute
	// retryTransport bounds how often an update goes on after the remote could
	// not be reached.
	retryTransport = 3
)

// transportError is a remote that could not be reached, which may pass.
type transportError struct{ err error }

func (e *transportError) Error() string { return e.err.Error() }
func (e *transportError) Unwrap() error { return e.err }

// Update changes the records by one commit, and returns it. Both branches move,
// or none; with a remote first there and then here. Of writers at the same
// time every one gets its turn, within retryTime or retryRemote. An Apply that changes
// nothing writes nothing.
func (m *Memory) Update(ctx context.Context, u Update) (commit string, err error) {
	if err := checkName(u.Program); err != nil {
		return "", err
	}
	w := &writing{Memory: m, Update: u, refs: []string{memoryRef}}
	if u.Branch != nil {
		w.refs = append(w.refs, u.Branch.Ref)
	}
	if u.Claims != "" && !slices.Contains(w.refs, u.Claims) {
		w.refs = append(w.refs, u.Claims)
	}
	if err := w.checkCheckouts(ctx, w.refs...); err != nil {
		return "", err
	}
	limit := retryTime
	if m.Remote != "" {
		limit = retryRemote
	}
	commit, err = backoff.Retry(ctx, func() (string, error) { return w.attempt(ctx) },
		backoff.WithBackOff(m.pace()), backoff.WithMaxElapsedTime(limit))
	if err == nil || errors.Is(err, ErrBranchMoved) {
		return commit, err
	}
	if errors.Is(err, git.ErrStale) || errors.Is(err, git.ErrLocked) {
		return "", fmt.Errorf("write the records of %s: no turn within %s: %w", u.Program, limit, err)
	}
	if errors.Is(err, git.ErrRejected) {
		err = fmt.Errorf("%w; every run writes `memory/autoloop`: leave it out of the repository's rules and hooks, "+
			"or let them except the token", err)
	}
	return "", err
}

// pace is how attempts follow each other: far enough apart that writers who
// met do not meet again.
func (m *Memory) pace() backoff.BackOff {
	pace := backoff.NewExponentialBackOff()
	pace.InitialInterval, pace.MaxInterval = 10*time.Millisecond, 500*time.Millisecond
	if m.Remote != "" {
		pace.InitialInterval, pace.MaxInterval = 100*time.Millisecond, 3*time.Second
	}
	pace.RandomizationFactor = 0.9
	return pace
}

type writing struct {
	*Memory
	Update
	// refs are the memory branch, Branch and Claims, as far as they are given.
	refs []string
	// written is the commit of this attempt; doubtful are those of which it is
	// not known whether the remote has them.
	written  string
	doubtful []string
	unsteady int
}

// CheckedOutError says that somebody works on a branch that Autoloop writes.
type CheckedOutError struct{ Ref, Where string }

func (e *CheckedOutError) Error() string {
	return fmt.Sprintf("branch %s is checked out in %s; check out another branch there, since Autoloop writes it",
		strings.TrimPrefix(e.Ref, "refs/heads/"), e.Where)
}

// checkCheckouts refuses to move a branch that somebody works on.
func (w *writing) checkCheckouts(ctx context.Context, refs ...string) error {
	checkedOut, err := w.Repo.CheckedOutBranches(ctx)
	if err != nil {
		return err
	}
	for _, ref := range refs {
		if where, out := checkedOut[ref]; out {
			return &CheckedOutError{Ref: ref, Where: where}
		}
	}
	return nil
}

// attempt tries once, and says which failures end the update.
func (w *writing) attempt(ctx context.Context) (string, error) {
	commit, err := w.once(ctx)
	var unreachable *transportError
	switch {
	case err == nil:
		return commit, nil
	case errors.Is(err, ErrBranchMoved):
		return "", backoff.Permanent(err)
	case errors.Is(err, git.ErrStale), errors.Is(err, git.ErrLocked):
		return "", err
	case errors.As(err, &unreachable) && w.unsteady < retryTransport:
		w.unsteady++
		return "", err
	}
	return "", backoff.Permanent(err)
}

func (w *writing) once(ctx context.Context) (string, error) {
	stands, err := w.stand(ctx, w.refs...)
	if err != nil {
		return "", err
	}
	head := stands[0].head
	if through, err := w.gotThrough(ctx, head); err != nil {
		return "", err
	} else if through != "" {
		return through, nil
	}
	for _, branch := range stands[1:] {
		if move, err := w.unfinished(ctx, stands[0], branch); err != nil {
			return "", err
		} else if move != nil {
			return "", w.finish(ctx, *move)
		}
	}
	if _, err := w.CheckSeen(ctx, head); err != nil {
		return "", err
	}
	current, err := w.At(ctx, head, w.Program)
	if err != nil {
		return "", err
	}
	if err := w.checkLedger(ctx, head, current); err != nil {
		return "", err
	}
	next, err := w.Apply(current)
	if err != nil {
		return "", backoff.Permanent(err)
	}
	if err := w.checkBranch(stands); err != nil {
		return "", err
	}
	files := changed(w.Program, current, next)
	if len(files) == 0 && w.Branch == nil {
		return head, nil
	}
	var parents []string
	if head != "" {
		parents = []string{head}
	}
	subject, _, _ := strings.Cut(strings.TrimSpace(w.Message), "\n")
	if w.written, err = w.Repo.CommitFiles(ctx, head, files, parents, subject+"\n", w.Now()); err != nil {
		return "", fmt.Errorf("write the records of %s: %w", w.Program, err)
	}
	return w.written, w.move(ctx, stands)
}

// gotThrough returns the commit of an earlier attempt, whose end was not seen,
// when it is on the branch, else "".
func (w *writing) gotThrough(ctx context.Context, head string) (string, error) {
	for _, commit := range w.doubtful {
		if head == "" {
			return "", nil
		}
		if through, err := w.Repo.IsAncestor(ctx, commit, head); err != nil || through {
			return commit, err
		}
	}
	return "", nil
}

func (w *writing) checkBranch(stands []stand) error {
	if w.Branch == nil || w.Branch.Old == git.Any || w.Branch.Old == stands[1].head {
		return nil
	}
	return fmt.Errorf("%w: %s is at %s, expected was %s", ErrBranchMoved,
		strings.TrimPrefix(w.Branch.Ref, "refs/heads/"), name(stands[1].head), name(w.Branch.Old))
}

func name(id string) string {
	if id == "" {
		return "no commit"
	}
	return id[:min(12, len(id))]
}

// changed are the files that differ, as they are to be written.
func changed(program string, current, next Files) map[string]*git.File {
	files := map[string]*git.File{}
	for _, f := range []struct {
		suffix      string
		before, now []byte
	}{
		{stateSuffix, current.State, next.State},
		{resultsSuffix, current.Results, next.Results},
	} {
		switch {
		case f.now == nil && f.before != nil:
			files[program+f.suffix] = nil
		case f.now != nil && (f.before == nil || string(f.before) != string(f.now)):
			files[program+f.suffix] = &git.File{Data: f.now}
		}
	}
	if next.Ledger == nil {
		for _, path := range current.iterations {
			files[path] = nil
		}
	}
	before := map[*history.Iteration]bool{}
	for _, it := range current.Ledger.Iterations() {
		before[it] = true
	}
	for _, it := range next.Ledger.Iterations() {
		if !before[it] {
			files[program+iterationsSuffix+"/"+iterationPath(it.Number)] = &git.File{Data: it.Text()}
		}
	}
	return files
}
