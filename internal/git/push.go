package git

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/process"
)

// RejectedError says which refs the remote refused, and why.
type RejectedError struct {
	Remote string
	Refs   []Rejection
	// Said is what a pre-receive hook printed, in one line; "" without one.
	Said string
	// Lock is the file of the remote by which another process of git was in the way, ""
	// without one.
	Lock string
}

// Rejection is the remote's answer for one ref, in its own words.
type Rejection struct{ Ref, Reason string }

// staleWords say that the ref had moved, so that a new attempt may succeed.
var staleWords = lazyregexp.New(`stale info|fetch first|non-fast-forward|needs force|already exists|cannot lock ref|` +
	`failed to update ref|incorrect old value|failed to lock|remote ref updated since checkout`)

// Atomic holds for a ref that was refused only because another one was.
func (j Rejection) Atomic() bool { return strings.Contains(j.Reason, "atomic") }

func (e *RejectedError) Error() string {
	own := slices.DeleteFunc(slices.Clone(e.Refs), Rejection.Atomic)
	if len(own) == 0 { // each for the sake of another
		own = e.Refs
	}
	var reasons []string
	for _, ref := range own {
		reasons = append(reasons, fmt.Sprintf("%s (%s)", short(ref.Ref), ref.Reason))
	}
	text := fmt.Sprintf("remote %s refused the push: %s", e.Remote, strings.Join(reasons, ", "))
	if e.Said != "" {
		text += ", which says: " + e.Said
	}
	if e.Lock != "" {
		text += fmt.Sprintf("; the lock %s is in the way there: if no git process works on that repository, one was "+
			"killed; remove it with: rm %s", e.Lock, process.QuoteWord(e.Lock))
	}
	return text
}

// Is makes a rejection ErrRejected, and ErrStale too when nothing but the
// movement of a ref caused it.
func (e *RejectedError) Is(target error) bool {
	// Where every ref was refused for the sake of another one, two pushes met
	// inside the remote.
	return target == ErrRejected || target == ErrStale &&
		!slices.ContainsFunc(e.Refs, func(ref Rejection) bool {
			return !staleWords().MatchString(ref.Reason) && !ref.Atomic()
		})
}

// Push moves refs on the remote, all or none, each only when it is at its Old
// there. A refusal is a *RejectedError; after any other error it is unknown
// whether the refs have moved, and Refs tells.
func (r Remote) Push(ctx context.Context, updates ...RefUpdate) error {
	args := []string{
		"push", "--porcelain", "--atomic", "--no-verify", "--no-signed",
		"--no-follow-tags", "--recurse-submodules=no", "--no-force-if-includes",
	}
	var refspecs []string
	for _, u := range updates {
		if u.Old == Any {
			refspecs = append(refspecs, "+"+u.New+":"+u.Ref)
			continue
		}
		args = append(args, "--force-with-lease="+u.Ref+":"+u.Old)
		refspecs = append(refspecs, u.New+":"+u.Ref)
	}
	args = append(append(args, "--", r.name), refspecs...)
	out, err := r.repo.RunWith(ctx, Input{Transport: true}, args...)
	failed, ok := errors.AsType[*Error](err)
	if !ok {
		return err
	}
	if refused := rejections(string(out)); len(refused) > 0 {
		return &RejectedError{
			Remote: r.name,
			Refs:   refused,
			Lock:   lockPath(failed.Stderr),
			Said:   hookWords(refused, failed.Stderr),
		}
	}
	return fmt.Errorf("push to %s: %w%s", r.name, err, pushCure(failed.Stderr))
}

// pushCure is what a person can do about a push that GitHub does not let through, by its
// words; "" when they are others.
func pushCure(says string) string {
	switch {
	case strings.Contains(says, "was archived"):
		return "; the repository is archived: unarchive it (Settings, General), or run Autoloop in a fork"
	case strings.Contains(says, "Permission to "), strings.Contains(says, "Write access to "),
		strings.Contains(says, "returned error: 403"):
		return "; the token may not push: give the job of the workflow `contents: write`, or a token that may"
	default:
		return ""
	}
}

// hookWords are those of the hook that refused a whole push.
func hookWords(refused []Rejection, says string) string {
	if !slices.ContainsFunc(refused, func(ref Rejection) bool { return strings.Contains(ref.Reason, "pre-receive") }) {
		return ""
	}
	const most = 300
	var words []string
	for line := range strings.Lines(says) {
		if said, is := strings.CutPrefix(line, "remote:"); is {
			words = append(words, strings.Fields(said)...)
		}
	}
	text := strings.Join(words, " ")
	return strings.ToValidUTF8(text[:min(len(text), most)], "")
}

// rejections reads the lines "!\t<from>:<to>\t[rejected] (reason)" of push
// --porcelain. A remote that vanished before it said what it did gives no results.
func rejections(out string) []Rejection {
	if strings.Contains(out, "failed to report status") || strings.Contains(out, "[remote failure]") {
		return nil
	}
	var refused []Rejection
	for line := range strings.Lines(out) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) != 3 || fields[0] != "!" {
			continue
		}
		_, ref, _ := strings.Cut(fields[1], ":")
		refused = append(refused, Rejection{Ref: ref, Reason: fields[2]})
	}
	return refused
}
