package git

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// drivers remembers which filters and merge drivers are configured, for as
// long as the files that say so are unchanged.
type drivers struct {
	mu       sync.Mutex
	seen     map[string]stamp
	settings []Setting
}

type stamp struct {
	size     int64
	modified time.Time
}

type configuration struct{ *Repo }

func (r *Repo) configuration() configuration { return configuration{r} }

// neutralised returns the settings that take the command out of every
// configured filter and merge driver, so that an attribute in a tree chooses
// none of them. A merge that wants such a driver is a conflict.
func (r configuration) neutralised(ctx context.Context) ([]Setting, error) {
	d := r.drivers
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.seen != nil && unchanged(d.seen) {
		return d.settings, nil
	}
	// The stamps are taken first: a change in between is seen the next time.
	settings, err := r.config.read(ctx, r)
	if err != nil {
		return nil, err
	}
	d.settings = neutralSettings(settings)
	d.seen = stamps(append(originsOf(settings, r.Root), r.usualConfigFiles()...))
	return d.settings, nil
}

// origin is one line of configuration and the file that it is in, "" when it
// is in none.
type origin struct{ key, value, file string }

func (r configuration) readConfig(ctx context.Context) ([]origin, error) {
	out, err := r.execute(ctx, call{
		dir:    r.Root,
		global: []string{"--git-dir=" + r.GitDir, "--work-tree=" + r.Root},
		args:   []string{"config", "--list", "--show-origin", "--includes", "-z"},
	})
	if err != nil {
		return nil, err
	}
	var settings []origin
	fields := strings.Split(string(out), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		file, isFile := strings.CutPrefix(fields[i], "file:")
		if !isFile {
			file = ""
		}
		key, value, _ := strings.Cut(fields[i+1], "\n")
		settings = append(settings, origin{key: key, value: value, file: file})
	}
	return settings, nil
}

// originsOf are the files that the settings are in, each once.
func originsOf(settings []origin, root string) []string {
	var files []string
	listed := map[string]bool{"": true}
	for _, s := range settings {
		if listed[s.file] {
			continue
		}
		listed[s.file] = true
		file := filepath.FromSlash(s.file)
		if !filepath.IsAbs(file) {
			file = filepath.Join(root, file)
		}
		files = append(files, file)
	}
	return files
}

// usualConfigFiles are those that may come into being later.
func (r configuration) usualConfigFiles() []string {
	files := []string{filepath.Join(r.CommonDir, "config"), filepath.Join(r.GitDir, "config.worktree")}
	return append(files, r.env.configFiles()...)
}

func neutralSettings(configured []origin) []Setting {
	var settings []Setting
	done := map[string]bool{}
	for _, s := range configured {
		section, rest, _ := strings.Cut(s.key, ".")
		dot := strings.LastIndex(rest, ".")
		if dot < 0 || done[section+"."+rest[:dot]] {
			continue
		}
		name := section + "." + rest[:dot]
		switch section {
		case "filter":
			done[name] = true
			settings = append(settings,
				Setting{name + ".clean", ""}, Setting{name + ".smudge", ""},
				Setting{name + ".process", ""}, Setting{name + ".required", "false"})
		case "merge":
			done[name] = true
			settings = append(settings, Setting{name + ".driver", "false"})
		}
	}
	return settings
}

func stamps(files []string) map[string]stamp {
	seen := make(map[string]stamp, len(files))
	for _, file := range files {
		seen[file] = stampOf(file)
	}
	return seen
}

func stampOf(file string) stamp {
	info, err := os.Stat(file)
	if err != nil {
		return stamp{size: -1}
	}
	return stamp{size: info.Size(), modified: info.ModTime()}
}

func unchanged(seen map[string]stamp) bool {
	for file, was := range seen {
		now := stampOf(file)
		if now.size != was.size || !now.modified.Equal(was.modified) {
			return false
		}
	}
	return true
}
