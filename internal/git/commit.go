package git

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/org/autoloop/internal/lazyregexp"
)

// Commit is a commit as it is recorded.
type Commit struct {
	ID      string
	Parents []string
	// Time is the committer's time, to the second, UTC.
	Time time.Time
	// Message is the whole message, in UTF-8 when its encoding is known.
	Message string
}

// Subject is the first line of the message.
func (c Commit) Subject() string {
	subject, _, _ := strings.Cut(strings.TrimSpace(c.Message), "\n")
	return subject
}

// CommitTree writes a commit of the tree with these parents and moves no ref.
// Author and committer are the repository's Identity, at the given time. It is
// signed when Signing says how.
func (r *Repo) CommitTree(ctx context.Context, tree string, parents []string, message string,
	at time.Time,
) (string, error) {
	date := fmt.Sprintf("%d +0000", at.Unix())
	in := Input{
		Stdin: []byte(strings.ReplaceAll(message, "\x00", "")),
		Env:   []string{"GIT_AUTHOR_DATE=" + date, "GIT_COMMITTER_DATE=" + date},
	}
	args := []string{"commit-tree", "-F", "-"}
	if r.Signing != "" {
		args = append(args, "--gpg-sign")
		in.Settings = []Setting{{Key: "gpg.format", Value: string(r.Signing)}}
	}
	for _, parent := range parents {
		args = append(args, "-p", parent)
	}
	return line(r.RunWith(ctx, in, append(args, tree)...))
}

// CommitFiles writes the tree that WriteFiles writes, and a commit of it as CommitTree
// does. Parents are full object ids.
func (r *Repo) CommitFiles(
	ctx context.Context, base string, files map[string]*File, parents []string, message string, at time.Time,
) (commit string, err error) {
	tree, err := r.WriteFiles(ctx, base, files)
	if err != nil {
		return "", err
	}
	return r.CommitTree(ctx, tree, parents, message, at)
}

// ReadCommit reads one commit.
func (r *Repo) ReadCommit(ctx context.Context, rev string) (Commit, error) {
	commits, err := r.Log(ctx, rev+"^!") // without its parents
	if err != nil {
		return Commit{}, err
	}
	if len(commits) == 0 {
		return Commit{}, fmt.Errorf("read commit %s: no such commit", rev)
	}
	return commits[0], nil
}

// Log lists the commits that revs select ("a", "^b", "b..a"), newest first.
func (r *Repo) Log(ctx context.Context, revs ...string) ([]Commit, error) {
	args := []string{"log", "-z", "--no-notes", "--format=%H%n%P%n%ct%n%B", "--end-of-options"}
	out, err := r.Run(ctx, slices.Concat(args, revs, []string{"--"})...)
	if err != nil {
		return nil, err
	}
	const facts = 4
	var commits []Commit
	for record := range records(out) {
		fields := strings.SplitN(record, "\n", facts)
		if len(fields) != facts {
			return nil, fmt.Errorf("read commits: git log printed %.100q", record)
		}
		seconds, _ := strconv.ParseInt(fields[2], 10, 64) // 0 for one that cannot be read, as git shows it
		commits = append(commits, Commit{
			ID: fields[0], Parents: strings.Fields(fields[1]), Time: time.Unix(seconds, 0).UTC(), Message: fields[3],
		})
	}
	return commits, nil
}

// Trailers reads the "Key: value" lines of the message's last paragraph, by
// key; of a key that is there more than once the last line counts. A paragraph
// in which any other line occurs has no trailers, and so has a message of one
// paragraph.
func (c Commit) Trailers() map[string]string {
	trailers := map[string]string{}
	paragraphs := strings.Split(strings.TrimSpace(strings.ReplaceAll(c.Message, "\r\n", "\n")), "\n\n")
	if len(paragraphs) < 2 {
		return trailers
	}
	last := continued().ReplaceAllString(strings.TrimSpace(paragraphs[len(paragraphs)-1]), " ")
	for line := range strings.SplitSeq(last, "\n") {
		found := trailer().FindStringSubmatch(line)
		if found == nil {
			return map[string]string{}
		}
		trailers[found[1]] = strings.TrimSpace(found[2])
	}
	return trailers
}

var (
	trailer   = lazyregexp.New(`^([A-Za-z0-9-]+):(.*)$`)
	continued = lazyregexp.New(`[ \t]*\n[ \t]+`) // a line that goes on with the one before
)

// Unsigned lists those commits that nobody known has signed: of revs, or with paths
// of all commits before them that change one of these. Known are the keys of an
// allowed-signers file for SSH, or those that the user's own keyring trusts.
func (r *Repo) Unsigned(ctx context.Context, how Signing, allowed string, revs, paths []string) ([]string, error) {
	// A repository's own configuration does not say who checks signatures.
	settings := []Setting{
		{"gpg.format", string(how)},
		{"gpg.program", "gpg"},
		{"gpg.openpgp.program", "gpg"},
		{"gpg.ssh.program", "ssh-keygen"},
	}
	if how == SSH {
		settings = append(settings, Setting{"gpg.ssh.allowedSignersFile", allowed},
			Setting{"gpg.ssh.revocationFile", ""})
	}
	walk := "--do-walk"
	if len(paths) == 0 {
		walk = "--no-walk"
	}
	out, err := r.RunWith(ctx, Input{Settings: settings}, slices.Concat(
		[]string{"log", "--format=%H %G?", walk, "--end-of-options"}, revs, []string{"--"}, paths)...)
	if err != nil {
		return nil, err
	}
	var unknown []string
	for line := range strings.Lines(string(out)) {
		if commit, says, _ := strings.Cut(strings.TrimSpace(line), " "); says != "G" {
			unknown = append(unknown, commit)
		}
	}
	return unknown, nil
}
