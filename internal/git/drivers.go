package git

import (
	"context"
	"errors"
	"strings"
	"sync"
)

// drivers remembers the commands that the repository's, the user's and the
// system's configuration give to filters and merge drivers.
type drivers struct {
	once     sync.Once
	settings []Setting
	err      error
}

// neutralised returns settings that take the commands out of every configured
// filter and merge driver, so that attributes in a tree can choose none. The
// configuration is read once.
func (r *Repo) neutralised(ctx context.Context) ([]Setting, error) {
	d := r.inherited
	d.once.Do(func() { d.settings, d.err = r.readDrivers(ctx) })
	return d.settings, d.err
}

func (r *Repo) readDrivers(ctx context.Context) ([]Setting, error) {
	out, err := r.execute(ctx, call{
		dir: r.Root, global: []string{"--git-dir=" + r.GitDir, "--work-tree=" + r.Root},
		args: []string{"config", "--includes", "--name-only", "-z", "--get-regexp", `^(filter|merge)\..*\.(clean|smudge|process|required|driver)$`},
	})
	var failed *Error
	if errors.As(err, &failed) && failed.ExitCode == 1 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var settings []Setting
	seen := map[string]bool{}
	for key := range strings.SplitSeq(string(out), "\x00") {
		if key == "" || seen[key] {
			continue
		}
		seen[key] = true
		s := Setting{Key: key}
		switch {
		case strings.HasSuffix(key, ".required"):
			s.Value = "false"
		case strings.HasSuffix(key, ".driver"):
			s.Value = "false" // a merge driver that fails is a conflict
		}
		settings = append(settings, s)
	}
	return settings, nil
}
