package git

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/process"
)

// origin is one line of configuration and the file that it is in, "" when it
// is in none.
type origin struct{ key, value, file string }

// configuration is all that is configured for the repository.
func (r *Repo) configuration(ctx context.Context) ([]origin, error) {
	out, err := r.execute(ctx, Input{WorkTree: r.Root}, []string{"--git-dir=" + r.GitDir, "--work-tree=" + r.Root},
		"config", "--list", "--show-origin", "--includes", "-z")
	if err != nil {
		return nil, err
	}
	var settings []origin
	fields := strings.Split(string(out), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		file, isFile := strings.CutPrefix(fields[i], "file:")
		key, value, _ := strings.Cut(fields[i+1], "\n")
		s := origin{key: key, value: value}
		if isFile {
			s.file = r.absolute(filepath.FromSlash(file), r.Root)
		}
		settings = append(settings, s)
	}
	return settings, nil
}

// absolute is a path of the configuration, which may begin at the user's home.
func (r *Repo) absolute(path, dir string) string {
	if rest, home := strings.CutPrefix(path, "~/"); home {
		return filepath.Join(process.Getenv(r.env.base, "HOME"), rest)
	}
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// plumbing are commands, some with an option, that read and write objects and refs as they
// are: whatever is configured, none of them runs a filter or a merge driver.
var plumbing = []string{
	"cat-file", "check-attr", "commit-tree", "count-objects", "diff-tree", "fetch", "for-each-ref", "log", "ls-remote",
	"ls-tree", "merge-base", "pack-objects", "push", "read-tree", "rev-list", "rev-parse", "symbolic-ref",
	"unpack-objects", "update-ref", "write-tree", "hash-object --no-filters", "update-index --index-info",
}

// neutral takes the command out of every configured filter and merge driver, so
// that an attribute in a tree chooses none of them. A merge that wants such a driver is a
// conflict.
func (r *Repo) neutral(ctx context.Context, args []string) ([]Setting, error) {
	if slices.ContainsFunc(plumbing, func(safe string) bool {
		command, option, _ := strings.Cut(safe, " ")
		return args[0] == command && (option == "" || slices.Contains(args, option))
	}) {
		return nil, nil
	}
	configured, err := r.configuration(ctx)
	var settings []Setting
	done := map[string]bool{}
	for _, s := range configured {
		name := s.key[:max(strings.LastIndex(s.key, "."), 0)] // filter.NAME, where NAME may have dots
		section, _, named := strings.Cut(name, ".")
		if !named || done[name] {
			continue
		}
		done[name] = true
		switch section {
		case "filter":
			settings = append(settings,
				Setting{name + ".clean", ""}, Setting{name + ".smudge", ""},
				Setting{name + ".process", ""}, Setting{name + ".required", "false"})
		case "merge":
			settings = append(settings, Setting{name + ".driver", "false"})
		}
	}
	return settings, err
}
