package git

import (
	"context"
	"strings"
)

// FileVersion is a file as a commit left it; Blob is "" where it removed the file.
type FileVersion struct{ Commit, Blob string }

// Versions lists the commits that changed a file, newest first, along the first
// parents of revs.
func (r *Repo) Versions(ctx context.Context, path string, revs ...string) ([]FileVersion, error) {
	args := []string{"log", "--first-parent", "-m", "--root", "--raw", "--no-abbrev", "--no-renames", "--format=commit %H", "--end-of-options"}
	out, err := r.Run(ctx, Input{}, append(append(args, revs...), "--", path)...)
	if err != nil {
		return nil, err
	}
	var versions []FileVersion
	for line := range strings.Lines(string(out)) {
		if commit, is := strings.CutPrefix(strings.TrimSpace(line), "commit "); is {
			versions = append(versions, FileVersion{Commit: commit})
			continue
		}
		fields := strings.Fields(line) // :100644 100644 <old> <new> M
		if last := len(versions) - 1; last >= 0 && len(fields) > 4 && strings.HasPrefix(line, ":") && fields[3] != zeroID(r.ObjectFormat) {
			versions[last].Blob = fields[3]
		}
	}
	return versions, nil
}

// Unsigned lists those commits that nobody known has signed: of revs, or with paths
// of all commits before them that change one of these. Known are the keys of an allowed-signers file for SSH, or those that the
// user's own keyring trusts.
func (r *Repo) Unsigned(ctx context.Context, how Signing, allowed string, revs, paths []string) ([]string, error) {
	// A repository's own configuration does not say who checks signatures.
	settings := []Setting{{"gpg.format", string(how)}, {"gpg.program", "gpg"}, {"gpg.openpgp.program", "gpg"}, {"gpg.ssh.program", "ssh-keygen"}}
	if how == SSH {
		settings = append(settings, Setting{"gpg.ssh.allowedSignersFile", allowed}, Setting{"gpg.ssh.revocationFile", ""})
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
