package git

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/org/autoloop/internal/process"
)

// configured remembers the configuration of a repository as it was opened, for as long as
// the files that it came from, and those that it may come from, have the same content.
type configured struct {
	repo     *Repo
	mu       sync.Mutex
	files    Fingerprint
	settings []origin
}

// origin is one line of configuration and the file that it is in, "" when it
// is in none.
type origin struct{ key, value, file string }

func (c *configured) read(ctx context.Context) ([]origin, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.files != nil && maps.Equal(c.files, c.fingerprint()) {
		return c.settings, nil
	}
	before := c.fingerprint()
	out, err := c.repo.execute(ctx, Input{WorkTree: c.repo.Root},
		[]string{"--git-dir=" + c.repo.GitDir, "--work-tree=" + c.repo.Root},
		"config", "--list", "--show-origin", "--includes", "-z")
	if err != nil {
		return nil, err
	}
	c.settings, c.files = nil, nil
	fields := strings.Split(string(out), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		file, isFile := strings.CutPrefix(fields[i], "file:")
		key, value, _ := strings.Cut(fields[i+1], "\n")
		s := origin{key: key, value: value}
		if isFile {
			s.file = c.absolute(filepath.FromSlash(file), c.repo.Root)
		}
		c.settings = append(c.settings, s)
	}
	// What is included on some branches alone depends on more than files. Files that change
	// while they are read, or were not known before, are read again the next time.
	onBranch := func(s origin) bool { return strings.HasPrefix(s.key, "includeif.onbranch:") }
	if !slices.ContainsFunc(c.settings, onBranch) {
		c.files = before
	}
	return c.settings, nil
}

// fingerprint is that of the files that the settings are in, that they include, and that
// may come into being later.
func (c *configured) fingerprint() Fingerprint {
	files := append(c.repo.env.configFiles(), filepath.Join(c.repo.CommonDir, "config"),
		filepath.Join(c.repo.GitDir, "config.worktree"))
	for _, s := range c.settings {
		if s.file != "" {
			files = append(files, s.file)
		}
		if strings.HasPrefix(s.key, "include") && strings.HasSuffix(s.key, ".path") {
			files = append(files, c.absolute(s.value, filepath.Dir(s.file)))
		}
	}
	slices.Sort(files)
	print := Fingerprint{}
	for _, file := range slices.Compact(files) {
		print.addFile("config", file)
	}
	return print
}

// absolute is a path of the configuration, which may begin at the user's home.
func (c *configured) absolute(path, dir string) string {
	if rest, home := strings.CutPrefix(path, "~/"); home {
		return filepath.Join(process.Getenv(c.repo.env.base, "HOME"), rest)
	}
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// neutralSettings take the command out of every configured filter and merge driver, so
// that an attribute in a tree chooses none of them. A merge that wants such a driver is a
// conflict.
func neutralSettings(configured []origin) []Setting {
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
	return settings
}
