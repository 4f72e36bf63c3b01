package git

import (
	"context"
	"strings"
)

// FileVersion is a file as a commit left it. Before is the blob that it had until then, ""
// for a file that is new; Blob is "" where the commit removed the file.
type FileVersion struct{ Commit, Path, Before, Blob string }

// Versions lists what commits changed of a file or below a directory, the newest commit
// first, along the first parents of revs.
func (r *Repo) Versions(ctx context.Context, path string, revs ...string) ([]FileVersion, error) {
	args := []string{
		"-c", "core.quotePath=false", "log", "--first-parent", "-m", "--root", "--raw", "--no-abbrev",
		"--no-renames", "-z", "--format=commit %H", "--end-of-options",
	}
	out, err := r.Run(ctx, Input{}, append(append(args, revs...), "--", path)...)
	if err != nil {
		return nil, err
	}
	var versions []FileVersion
	commit, zero := "", zeroID(r.ObjectFormat)
	fields := strings.Split(string(out), "\x00")
	for i := 0; i < len(fields); i++ {
		field := strings.TrimLeft(fields[i], "\n")
		if id, is := strings.CutPrefix(field, "commit "); is {
			commit = id
			continue
		}
		raw := strings.Fields(field) // :100644 100644 <old> <new> M, and then the path
		if !strings.HasPrefix(field, ":") || len(raw) < 5 || i+1 == len(fields) {
			continue
		}
		v := FileVersion{Commit: commit, Before: raw[2], Blob: raw[3]}
		if v.Before == zero {
			v.Before = ""
		}
		if v.Blob == zero {
			v.Blob = ""
		}
		i++
		v.Path = fields[i]
		versions = append(versions, v)
	}
	return versions, nil
}

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
	args := []string{"log", "--format=%H %G?"}
	if len(paths) == 0 {
		args = append(args, "--no-walk")
	}
	args = append(append(args, "--end-of-options"), revs...)
	out, err := r.Run(ctx, Input{Settings: settings}, append(append(args, "--"), paths...)...)
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
