package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// slashed is a link's target as decision.Links takes it.
func slashed(target string) string {
	if filepath.IsAbs(target) {
		return "/"
	}
	return filepath.ToSlash(target)
}

// ManifestFile is where the manifest of a snapshot is.
func ManifestFile(snapshot string) string { return filepath.Clean(snapshot) + ".manifest.json" }

// nextFile is where the manifest waits while a snapshot is replaced.
func nextFile(snapshot string) string { return hidden(snapshot, "manifest-next") }

// hidden is a name beside a directory, for what is only there during the work.
func hidden(dir, purpose string) string {
	return filepath.Join(filepath.Dir(dir), "."+filepath.Base(dir)+"."+purpose)
}

// real is the absolute path of a directory that may not exist yet, with the
// links on the way followed.
func resolve(dir string) (string, error) {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if found, err := filepath.EvalSymlinks(absolute); err == nil {
		return found, nil
	}
	if info, err := os.Lstat(absolute); err == nil && info.Mode()&os.ModeSymlink != 0 {
		return "", fmt.Errorf("%s is a link that leads nowhere", dir)
	}
	if filepath.Dir(absolute) == absolute {
		return absolute, nil
	}
	parent, err := resolve(filepath.Dir(absolute))
	return filepath.Join(parent, filepath.Base(absolute)), err
}

// apart resolves two directories, and refuses them when one is in the other, or is the
// other.
func apart(from, to string) (a, b string, err error) {
	if a, err = resolve(from); err != nil {
		return "", "", err
	}
	if b, err = resolve(to); err != nil {
		return "", "", err
	}
	for _, pair := range [][2]string{{a, b}, {b, a}} {
		relative, err := filepath.Rel(pair[0], pair[1])
		if err == nil && relative != ".." && !strings.HasPrefix(relative, ".."+string(filepath.Separator)) {
			return "", "", fmt.Errorf("%s is in %s; keep the two apart", pair[1], pair[0])
		}
	}
	return a, b, nil
}

// isDirectory says why a path is no directory.
func isDirectory(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is no directory", dir)
	}
	return nil
}
