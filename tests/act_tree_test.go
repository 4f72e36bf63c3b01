package tests

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// ownTree is a copy of this repository's files, which act hands to jobs as
// org/autoloop@v1. releasedTree says that it is the release 1.0.0, which has the
// binaries under test; the servers have that release. It has what the action reads
// then and no source, which act would copy for every step that uses the action.
var (
	ownTree      = sync.OnceValues(func() (string, error) { return copyTree("..", filepath.Join(binaries, "own"), "") })
	releasedTree = sync.OnceValues(release)
)

// actionStandIns are the directories that act gets for the actions of others
// that the workflows and the action use, by OWNER/NAME@REF.
func actionStandIns(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("../workflows/*.yml")
	require.NoError(t, err)
	uses := regexp.MustCompile(`uses: *(actions/([a-z-]+))(/[a-z-]+)?(@\S+)`)
	stands := map[string]string{}
	for _, file := range append(files, "../action.yml") {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, m := range uses.FindAllStringSubmatch(string(text), -1) {
			dir, err := filepath.Abs(filepath.Join("act", m[2]))
			require.NoError(t, err)
			require.FileExists(t, filepath.Join(dir, m[3], "action.yml"), "%s has no stand-in", m[0])
			stands[m[1]+m[4]] = dir
		}
	}
	return stands
}

// copyTree copies what belongs to a repository, but for its tests; with a pattern
// only the files whose path matches.
func copyTree(from, to, only string) (string, error) {
	wanted := regexp.MustCompile(only)
	return to, filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		switch {
		case entry.IsDir() && (rel == ".git" || rel == "tests" || rel == "tools" || entry.Name() == "node_modules"):
			return filepath.SkipDir
		case entry.IsDir():
			return nil
		case !entry.Type().IsRegular() || !wanted.MatchString(filepath.ToSlash(rel)):
			return nil
		}
		data, err := os.ReadFile(path) //nolint:gosec // The files of this repository.
		if err != nil {
			return err
		}
		file := filepath.Join(to, rel)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { //nolint:gosec // As a checkout has it.
			return err
		}
		return os.WriteFile(file, data, 0o644) //nolint:gosec // As a checkout has it.
	})
}

// The release 1.0.0 with the binaries under test, and with what starts these:
// unpacking 60 MB for every step that uses the action takes longer than the step.
const wholeRelease, lightRelease = "release", "release-light"

// release makes the files of a release of the binaries under test, whole and light,
// and the tree whose release it is.
func release() (string, error) {
	tree, err := copyTree("..", filepath.Join(binaries, "released"), `^(action\.yml|CHANGELOG\.md|workflows/.*)$`)
	if err != nil {
		return "", err
	}
	changes := filepath.Join(tree, "CHANGELOG.md")
	text, err := os.ReadFile(changes)
	if err != nil {
		return "", err
	}
	before, after, found := strings.Cut(string(text), "\n## ")
	if !found {
		return "", fmt.Errorf("%s has no versions", changes)
	}
	_, after, _ = strings.Cut(after, "\n")
	if err := os.WriteFile(changes, []byte(before+"\n## [1.0.0] - 2026-01-01\n"+after), 0o600); err != nil {
		return "", err
	}
	for dir, read := range map[string]func(string) ([]byte, error){
		wholeRelease: func(name string) ([]byte, error) { return os.ReadFile(filepath.Join(binaries, name)) },
		lightRelease: func(name string) ([]byte, error) { return []byte(starter(name)), nil },
	} {
		dir := filepath.Join(binaries, dir)
		if err := os.MkdirAll(dir, 0o750); err != nil {
			return "", err
		}
		name := fmt.Sprintf("autoloop_1.0.0_%s_%s.tar.gz", runtime.GOOS, runtime.GOARCH)
		sum, err := pack(filepath.Join(dir, name), read, "scheduler", "iterate")
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(dir, "checksums.txt"), []byte(sum+"  "+name+"\n"), 0o600); err != nil {
			return "", err
		}
	}
	return tree, nil
}

// pack writes an archive of what read has for the names, and returns its digest.
func pack(file string, read func(string) ([]byte, error), names ...string) (string, error) {
	out, err := os.Create(file) //nolint:gosec // In the directory of the tests.
	if err != nil {
		return "", err
	}
	defer func() { _ = out.Close() }()
	digest := sha256.New()
	zipped, err := gzip.NewWriterLevel(io.MultiWriter(out, digest), gzip.BestSpeed)
	if err != nil {
		return "", err
	}
	archive := tar.NewWriter(zipped)
	for _, name := range names {
		data, err := read(name)
		if err != nil {
			return "", err
		}
		if err := archive.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(data))}); err != nil {
			return "", err
		}
		if _, err := archive.Write(data); err != nil {
			return "", err
		}
	}
	if err := archive.Close(); err != nil {
		return "", err
	}
	if err := zipped.Close(); err != nil {
		return "", err
	}
	return hex.EncodeToString(digest.Sum(nil)), out.Close()
}

// goEnvironment is PATH, and what Go needs to build without the network.
var goEnvironment = sync.OnceValues(func() ([]string, error) {
	out, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	values := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(values) != 3 {
		return nil, fmt.Errorf("go env printed %q", out)
	}
	return []string{
		"PATH=" + os.Getenv("PATH"), "GOCACHE=" + values[0], "GOROOT=" + values[2],
		"GOPROXY=file://" + filepath.ToSlash(filepath.Join(values[1], "cache", "download")), "GOSUMDB=off",
	}, nil
})
