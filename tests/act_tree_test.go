package tests

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
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
	ownTree      = sync.OnceValues(func() (string, error) { return copyTree(moduleTree(), "") })
	releasedTree = sync.OnceValues(release)
)

// moduleTree is where the copy lies, as a proxy packs it.
func moduleTree() string {
	return filepath.Join(binaries, "own", "github.com", "org", "autoloop@v1.0.0")
}

// actionStandIns are the directories that act gets for the actions of others
// that the workflows and the action use, by OWNER/NAME@REF.
func actionStandIns(t testing.TB) map[string]string {
	t.Helper()
	files, err := filepath.Glob("../workflows/*.yml")
	require.NoError(t, err)
	uses := regexp.MustCompile(`uses: *(actions/([a-z-]+))(/[a-z-]+)?(@\S+)`)
	stands := map[string]string{}
	for _, file := range append(files, "../action.yml") {
		text := readText(t, file)
		for _, m := range uses.FindAllStringSubmatch(text, -1) {
			dir, err := filepath.Abs(filepath.Join("act", m[2]))
			require.NoError(t, err)
			require.FileExists(t, filepath.Join(dir, m[3], "action.yml"), "%s has no stand-in", m[0])
			stands[m[1]+m[4]] = dir
		}
	}
	return stands
}

// copyTree copies what belongs to this module, but for its tests; with a pattern
// only the files whose path matches.
func copyTree(to, only string) (string, error) {
	const from = ".."
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
		case entry.IsDir() && slices.Contains([]string{".git", "tests", "tools", "programs"}, rel):
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
	tree, err := copyTree(filepath.Join(binaries, "released"), `^(action\.yml|CHANGELOG\.md|workflows/.*)$`)
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
		lightRelease: starter,
	} {
		dir := filepath.Join(binaries, dir)
		if err := os.MkdirAll(dir, 0o750); err != nil {
			return "", err
		}
		name := archiveName("1.0.0")
		packed, err := pack(read, "scheduler", "iterate")
		if err != nil {
			return "", err
		}
		sums := fmt.Sprintf("%x  %s\n", sha256.Sum256(packed), name)
		for file, data := range map[string][]byte{name: packed, "checksums.txt": []byte(sums)} {
			if err := os.WriteFile(filepath.Join(dir, file), data, 0o600); err != nil {
				return "", err
			}
		}
	}
	return tree, nil
}

// pack is an archive of what read has for the names.
func pack(read func(string) ([]byte, error), names ...string) ([]byte, error) {
	var packed bytes.Buffer
	zipped, err := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	archive := tar.NewWriter(zipped)
	for _, name := range names {
		data, err := read(name)
		if err != nil {
			return nil, err
		}
		if err := archive.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(data))}); err != nil {
			return nil, err
		}
		if _, err := archive.Write(data); err != nil {
			return nil, err
		}
	}
	err = errors.Join(archive.Close(), zipped.Close())
	return packed.Bytes(), err
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
