package git

import (
	"context"
	"slices"
	"strings"
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
	out, err := r.Run(ctx, Input{Settings: settings}, slices.Concat(
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
