package git

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/org/autoloop/internal/lazyregexp"
)

// Commit is a commit as it is recorded.
type Commit struct {
	ID, Tree  string
	Parents   []string
	Author    Identity
	Committer Identity
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
// signed when the repository was opened WithSigning.
func (r *Repo) CommitTree(ctx context.Context, tree string, parents []string, message string, at time.Time) (string, error) {
	args := []string{"commit-tree", "--no-gpg-sign", "-F", "-"}
	var signing []Setting
	if r.signing != "" {
		args[1], signing = "--gpg-sign", []Setting{{Key: "gpg.format", Value: string(r.signing)}}
	}
	for _, parent := range parents {
		args = append(args, "-p", parent)
	}
	date := fmt.Sprintf("%d +0000", at.Unix())
	in := Input{
		Stdin: []byte(strings.ReplaceAll(message, "\x00", "")),
		Env:   []string{"GIT_AUTHOR_DATE=" + date, "GIT_COMMITTER_DATE=" + date},

		Settings: signing,
	}
	return r.line(ctx, in, append(args, tree)...)
}

// CommitFiles writes the tree that WriteFiles writes, and a commit of it as CommitTree
// does, in one process where that is possible. Parents are full object ids.
func (r *Repo) CommitFiles(ctx context.Context, base string, files map[string]*File, parents []string, message string, at time.Time) (commit, tree string, err error) {
	if who := r.Identity; r.signing == "" && isPlain(who) && isPlainCommit(r.ObjectFormat, parents, message, at) {
		e, tree, err := r.trees().edited(ctx, base, files)
		if err == nil {
			commit := e.object("commit", commitText(who, tree, parents, message, at))
			return commit, tree, r.trees().writeObjects(ctx, e.made)
		}
		if !errors.Is(err, errUnasked) {
			return "", "", err
		}
	}
	if tree, err = r.WriteFiles(ctx, base, files); err != nil {
		return "", "", err
	}
	commit, err = r.CommitTree(ctx, tree, parents, message, at)
	return commit, tree, err
}

// plainName matches names and addresses that git writes as they are: it takes some
// characters out of others, most of them at the ends.
var plainName = lazyregexp.New(`^[\pL\pN](?:[\pL\pN ._@+\[\]-]*[\pL\pN\]])?$`)

func isPlain(who Identity) bool {
	return plainName().MatchString(who.Name) && plainName().MatchString(who.Email)
}

// isPlainCommit reports whether git would write the object as commitText does.
func isPlainCommit(format string, parents []string, message string, at time.Time) bool {
	unknown := func(id string) bool { return !isID(format, id) }
	return at.Unix() >= 0 && utf8.ValidString(message) && !slices.ContainsFunc(parents, unknown) &&
		len(slices.Compact(slices.Sorted(slices.Values(parents)))) == len(parents)
}

// commitText renders a commit object.
func commitText(who Identity, tree string, parents []string, message string, at time.Time) []byte {
	var out strings.Builder
	fmt.Fprintf(&out, "tree %s\n", tree)
	for _, parent := range parents {
		fmt.Fprintf(&out, "parent %s\n", parent)
	}
	for _, role := range []string{"author", "committer"} {
		fmt.Fprintf(&out, "%s %s <%s> %d +0000\n", role, who.Name, who.Email, at.Unix())
	}
	out.WriteString("\n" + strings.ReplaceAll(message, "\x00", ""))
	return []byte(out.String())
}

// ReadCommit reads one commit.
func (r *Repo) ReadCommit(ctx context.Context, rev string) (Commit, error) {
	if raw, err := r.objects().ask(ctx, contents, rev+"^{commit}"); err == nil {
		if commit, ok := parseRaw(raw.ID, raw.Data); ok {
			return commit, nil
		}
	}
	commits, err := r.Log(ctx, 1, rev)
	if err != nil {
		return Commit{}, err
	}
	if len(commits) == 0 {
		return Commit{}, fmt.Errorf("read commit %s: no such commit", rev)
	}
	return commits[0], nil
}

// parseRaw reads a commit object of the usual form. One of another form, and a message in
// another encoding, is left to git.
func parseRaw(id string, data []byte) (Commit, bool) {
	c := Commit{ID: id, Parents: []string{}}
	head, message, ok := strings.Cut(string(data), "\n\n")
	if !ok || !utf8.ValidString(message) || strings.Contains(message, "\x00") {
		return c, false
	}
	c.Message = message
	order, at, dated := []string{"tree", "parent", "author", "committer"}, -1, false
	for line := range strings.SplitSeq(head, "\n") {
		key, value, _ := strings.Cut(line, " ")
		// git counts these in this order alone, and each but a parent once.
		place := slices.Index(order, key)
		if place >= 0 && (place < at || place == at && key != "parent") {
			return c, false
		}
		if at = place; at < 0 {
			at = len(order)
		}
		switch key {
		case "tree":
			c.Tree = value
		case "parent":
			c.Parents = append(c.Parents, value)
		case "author":
			c.Author, _, ok = parseSignature(value)
		case "committer":
			c.Committer, c.Time, dated = parseSignature(value)
		case "encoding":
			return c, false
		}
	}
	return c, ok && dated && c.Tree != ""
}

// parseSignature reads "Name <email> seconds zone".
func parseSignature(text string) (Identity, time.Time, bool) {
	name, rest, ok := strings.Cut(text, " <")
	email, when, closed := strings.Cut(rest, "> ")
	number, _, zoned := strings.Cut(when, " ")
	seconds, err := strconv.ParseUint(number, 10, 63)
	usual := strings.TrimSpace(name) == name
	return Identity{Name: name, Email: email}, time.Unix(int64(seconds), 0).UTC(), ok && closed && zoned && usual && err == nil //nolint:gosec // it has 63 bits
}

const logFormat = "%H%n%T%n%P%n%an%n%ae%n%cn%n%ce%n%ct%n%B"

// Log lists the commits that revs select ("a", "^b", "b..a"), newest first, at
// most limit of them; 0 is all.
func (r *Repo) Log(ctx context.Context, limit int, revs ...string) ([]Commit, error) {
	args := []string{"log", "-z", "--no-show-signature", "--no-notes", "--no-mailmap", "--no-patch", "--format=" + logFormat}
	if limit > 0 {
		args = append(args, "--max-count="+strconv.Itoa(limit))
	}
	args = append(args, "--end-of-options")
	out, err := r.Run(ctx, Input{}, append(append(args, revs...), "--")...)
	if err != nil {
		return nil, err
	}
	var commits []Commit
	for record := range strings.SplitSeq(string(out), "\x00") {
		if record == "" {
			continue
		}
		c, err := parseCommit(record)
		if err != nil {
			return nil, err
		}
		commits = append(commits, c)
	}
	return commits, nil
}

func parseCommit(record string) (Commit, error) {
	fields := strings.SplitN(record, "\n", 9)
	if len(fields) != 9 {
		return Commit{}, fmt.Errorf("read commits: git log printed %.100q", record)
	}
	seconds, err := strconv.ParseInt(fields[7], 10, 64)
	if err != nil {
		seconds = 0 // as git shows a time that it cannot read
	}
	return Commit{
		ID: fields[0], Tree: fields[1], Parents: strings.Fields(fields[2]),
		Author:    Identity{Name: fields[3], Email: fields[4]},
		Committer: Identity{Name: fields[5], Email: fields[6]},
		Time:      time.Unix(seconds, 0).UTC(),
		Message:   fields[8],
	}, nil
}
