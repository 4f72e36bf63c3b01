package memory

import (
	"bytes"
	"cmp"
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
type transportError struct{ error }

func (e *transportError) Unwrap() error { return e.error }

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
	if err := m.checkCheckouts(ctx, w.refs); err != nil {
		return "", err
	}
	// Attempts are far enough apart that writers who met do not meet again.
	pace, limit := backoff.NewExponentialBackOff(), retryTime
	pace.InitialInterval, pace.MaxInterval, pace.RandomizationFactor = 10*time.Millisecond, 500*time.Millisecond, 0.9
	if m.Remote != "" {
		pace.InitialInterval, pace.MaxInterval, limit = 100*time.Millisecond, 3*time.Second, retryRemote
	}
	unsteady := 0
	commit, err = backoff.Retry(ctx, func() (string, error) {
		commit, err := w.once(ctx)
		if _, unreachable := errors.AsType[*transportError](err); unreachable && unsteady < retryTransport {
			unsteady++
		} else if !errors.Is(err, git.ErrStale) && !errors.Is(err, git.ErrLocked) {
			err = backoff.Permanent(err)
		}
		return commit, err
	}, backoff.WithBackOff(pace), backoff.WithMaxElapsedTime(limit))
	switch {
	case errors.Is(err, git.ErrStale) || errors.Is(err, git.ErrLocked):
		err = fmt.Errorf("write the records of %s: no turn within %s: %w", u.Program, limit, err)
	case errors.Is(err, git.ErrRejected):
		err = fmt.Errorf("%w; every run writes `memory/autoloop`: leave it out of the repository's rules and hooks, "+
			"or let them except the token", err)
	}
	return commit, err
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
}

// once tries once.
func (w *writing) once(ctx context.Context) (string, error) {
	stands, err := w.stand(ctx, w.refs...)
	if err != nil {
		return "", err
	}
	head := stands[0].head
	for _, commit := range w.doubtful { // the end of an earlier attempt was not seen
		if through, err := w.within(ctx, commit, head); err != nil || through {
			return commit, err
		}
	}
	for _, s := range stands {
		if s.unfinished {
			err := w.Repo.UpdateRefs(ctx, "autoloop: finish an interrupted update",
				git.RefUpdate{Ref: s.ref, Old: s.here, New: s.head})
			return "", cmp.Or(err, fmt.Errorf("%w: %s", git.ErrStale, s.ref)) // and begin anew
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
	if w.Branch != nil && w.Branch.Old != git.Any && w.Branch.Old != stands[1].head {
		return "", fmt.Errorf("%w: %s is at %.12s, expected was %.12s", ErrBranchMoved,
			strings.TrimPrefix(w.Branch.Ref, "refs/heads/"), cmp.Or(stands[1].head, "no commit"),
			cmp.Or(w.Branch.Old, "no commit"))
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

// changed are the files that differ, as they are to be written.
func changed(program string, current, next Files) map[string]*git.File {
	files := map[string]*git.File{}
	compare := func(path string, before, now []byte) {
		if (before == nil) != (now == nil) || !bytes.Equal(before, now) {
			if files[path] = nil; now != nil {
				files[path] = &git.File{Data: now}
			}
		}
	}
	compare(program+stateSuffix, current.State, next.State)
	compare(program+resultsSuffix, current.Results, next.Results)
	path := func(it *history.Iteration) string {
		return program + iterationsSuffix + "/" + iterationPath(it.Number)
	}
	before, now := current.Ledger.Iterations(), next.Ledger.Iterations()
	for i, it := range now {
		if i >= len(before) || before[i] != it {
			files[path(it)] = &git.File{Data: it.Text()}
		}
	}
	if next.Ledger == nil {
		for _, it := range before {
			files[path(it)] = nil
		}
	}
	return files
}

// move moves the branches, with a remote first there. A local branch that another run has moved in
// the meantime is then left alone: the remote has everything, and the next update brings it here.
func (w *writing) move(ctx context.Context, stands []stand) error {
	if w.Remote != "" {
		err := w.Repo.Remote(w.Remote).Push(ctx, w.updates(stands, func(s stand) string { return s.there })...)
		if err != nil && !errors.Is(err, git.ErrRejected) {
			// The refs may have moved before the connection broke: the next attempt looks.
			w.doubtful, err = append(w.doubtful, w.written), &transportError{err}
		}
		if err != nil {
			return err
		}
	}
	updates := w.updates(stands, func(s stand) string { return s.here })
	for _, u := range updates {
		updates = append(updates, git.RefUpdate{Ref: w.seen(u.Ref), New: u.New, Old: git.Any})
	}
	err := w.Repo.UpdateRefs(ctx, "autoloop: "+w.Message, updates...)
	switch {
	case err == nil || w.Remote == "":
		return err
	case errors.Is(err, git.ErrStale) || errors.Is(err, git.ErrLocked):
		return nil
	}
	return fmt.Errorf("the records are on %s, but the branches here did not follow: %w", w.Remote, err)
}

// updates moves each branch from the value that from gives.
func (w *writing) updates(stands []stand, from func(stand) string) []git.RefUpdate {
	updates := []git.RefUpdate{{Ref: memoryRef, New: w.written, Old: from(stands[0])}}
	if w.Branch != nil {
		updates = append(updates, git.RefUpdate{Ref: w.Branch.Ref, New: w.Branch.New, Old: from(stands[1])})
	}
	return updates
}
