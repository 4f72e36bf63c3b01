package tests

import (
	"debug/elf"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/org/autoloop/tests/long"
)

// instruction is one of a Dockerfile, its words split at blanks.
type instruction struct {
	name string
	args []string
}

// stage is what follows one FROM.
type stage struct {
	name, image  string
	instructions []instruction
}

// readStages reads the part of the Dockerfile language that ours is written
// in: comments, continued lines, and instructions of words.
func readStages(t *testing.T) (stages []stage) {
	t.Helper()
	data := readText(t, "../Dockerfile")
	text := regexp.MustCompile(`(?m)^\s*#.*\n`).ReplaceAllString(data, "")
	text = strings.ReplaceAll(text, "\\\n", " ")
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if words[0] != "FROM" {
			last := &stages[len(stages)-1]
			last.instructions = append(last.instructions, instruction{words[0], words[1:]})
			continue
		}
		from := stage{image: words[1]}
		if strings.HasPrefix(from.image, "--platform=") {
			from.image = words[2]
		}
		if n := len(words); words[n-2] == "AS" {
			from.name = words[n-1]
		}
		stages = append(stages, from)
	}
	return stages
}

// all are the arguments of every instruction of one name.
func (s stage) all(name string) (all [][]string) {
	for _, i := range s.instructions {
		if i.name == name {
			all = append(all, i.args)
		}
	}
	return all
}

// last are the arguments of the last instruction of one name, joined.
func (s stage) last(name string) string {
	all := s.all(name)
	if len(all) == 0 {
		return ""
	}
	return strings.Join(all[len(all)-1], " ")
}

// buildStage runs the instructions of the stage that compiles, one after the
// other, in a directory that stands for the image's root, from a copy of the
// tracked files. Only what installs packages is left out.
func buildStage(t *testing.T, s stage) (root string) {
	t.Helper()
	root = t.TempDir()
	dir := root
	for _, i := range s.instructions {
		switch i.name {
		case "WORKDIR":
			dir = filepath.Join(root, filepath.FromSlash(i.args[0]))
			require.NoError(t, os.MkdirAll(dir, 0o750))
		case "COPY":
			require.Equal(t, "./", i.args[len(i.args)-1][:1]+"/", "into the working directory")
			copyTracked(t, i.args[:len(i.args)-1], dir)
		case "RUN":
			runBuild(t, root, dir, strings.Join(i.args, " "))
		case "ARG":
			require.Len(t, i.args, 1)
		default:
			t.Fatalf("the test does not know %s", i.name)
		}
	}
	return root
}

// copyTracked copies files of the repository as git has them in the work tree.
func copyTracked(t testing.TB, names []string, dir string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "sh", "-c", //nolint:gosec // names of the Dockerfile
		`cd .. && git ls-files -z -- $1 | tar --null --files-from=- --create | tar --extract --directory="$0"`,
		dir, strings.Join(names, " ")).CombinedOutput()
	require.NoError(t, err, string(out))
}

func runBuild(t *testing.T, root, dir, command string) {
	t.Helper()
	if strings.HasPrefix(command, "apk add ") {
		return
	}
	out := filepath.Join(root, "out")
	mapped := strings.ReplaceAll(command, " /out/", " '"+out+"/'")
	require.NotRegexp(t, ` /`, strings.ReplaceAll(mapped, out, ""), "a path that is not the test's")
	cmd := exec.CommandContext(t.Context(), "sh", "-c", mapped)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TARGETOS="+runtime.GOOS, "TARGETARCH="+runtime.GOARCH, "GOFLAGS=-mod=readonly",
		"GOWORK=off")
	output, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s\n%s", mapped, output)
}

// TestContainer runs the Dockerfile's own build commands, and checks the image
// from its instructions: what is in it, who runs it, and that both commands
// need nothing of the system.
func TestContainer(t *testing.T) {
	long.Only(t, long.Builds)
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the image is for Linux: its commands are looked at as ELF files")
	}
	stages := readStages(t)
	require.Len(t, stages, 2)
	build, final := stages[0], stages[1]
	pinned := regexp.MustCompile(`^[a-z]+:[\w.-]+@sha256:[0-9a-f]{64}$`)
	for _, s := range stages {
		assert.Regexp(t, pinned, s.image)
	}
	root := buildStage(t, build)

	files := map[string]string{}
	for _, args := range final.all("COPY") {
		from, sources, to := "", args[:len(args)-1], args[len(args)-1]
		if name, ok := strings.CutPrefix(sources[0], "--from="); ok {
			from, sources = name, sources[1:]
		}
		for _, source := range sources {
			file := filepath.Join("..", filepath.FromSlash(source))
			if from != "" {
				require.Equal(t, build.name, from)
				file = filepath.Join(root, filepath.FromSlash(source))
			}
			require.FileExists(t, file)
			if strings.HasSuffix(to, "/") {
				files[path.Join(to, path.Base(source))] = file
			} else {
				files[to] = file
			}
		}
	}
	assert.Equal(t, []string{
		"/usr/local/bin/iterate", "/usr/local/bin/scheduler",
		"/usr/share/licenses/autoloop/LICENSE",
	},
		slices.Sorted(maps.Keys(files)), "all that the image adds to its base and its packages")
	for _, name := range []string{"iterate", "scheduler"} {
		command := files["/usr/local/bin/"+name]
		assertStatic(t, command)
		output, err := exec.CommandContext(t.Context(), command, "--version").CombinedOutput()
		require.NoError(t, err)
		assert.Regexp(t, "^"+name+" ", string(output))
	}
	assert.Equal(t, "apk add --no-cache bash ca-certificates git gnupg openssh-keygen",
		strings.Join(final.all("RUN")[0], " "))
	assert.Regexp(t, `^[1-9][0-9]*$`, final.last("USER"), "a number, so that Kubernetes can tell that it is not root")
	assert.Equal(t, `["iterate"]`, final.last("ENTRYPOINT"))
	assert.Equal(t, "/work", final.last("WORKDIR"))
	assert.Empty(t, final.all("ENV"), "nothing is set behind the user's back")
}

// assertStatic asserts that no loader and no library is asked for.
func assertStatic(t *testing.T, file string) {
	t.Helper()
	binary, err := elf.Open(file)
	require.NoError(t, err)
	defer func() { require.NoError(t, binary.Close()) }()
	for _, p := range binary.Progs {
		assert.NotEqual(t, elf.PT_INTERP, p.Type, "%s wants a loader", file)
	}
	libraries, err := binary.ImportedLibraries()
	require.NoError(t, err)
	assert.Empty(t, libraries)
}

// TestReleaseNames holds the release's parts to the names that the action and
// the documents have.
func TestReleaseNames(t *testing.T) {
	t.Parallel()
	data := readText(t, "../.goreleaser.yml")
	var release struct {
		Version int
		Builds  []struct {
			Main, Binary string
			Env, Flags   []string
			Goos, Goarch []string
		}
		Archives []struct {
			Formats      []string
			NameTemplate string `yaml:"name_template"`
			Files        []struct {
				Src  string
				Info struct{ Mtime string }
			}
		}
		Checksum struct {
			NameTemplate string `yaml:"name_template"`
			Algorithm    string
		}
		Release struct{ Draft bool }
	}
	require.NoError(t, yaml.Unmarshal([]byte(data), &release))
	require.Len(t, release.Builds, 2)
	for _, build := range release.Builds {
		assert.Equal(t, "./cmd/"+build.Binary, build.Main)
		assert.DirExists(t, filepath.Join("..", filepath.FromSlash(build.Main)))
		assert.Equal(t, []string{"CGO_ENABLED=0"}, build.Env)
		assert.Contains(t, build.Flags, "-trimpath")
		assert.Contains(t, build.Flags, "-buildvcs=true", "without it there is no version")
		assert.Equal(t, []string{"linux", "darwin", "windows"}, build.Goos)
		assert.Equal(t, []string{"amd64", "arm64"}, build.Goarch)
	}
	require.Len(t, release.Archives, 1)
	assert.Equal(t, []string{"tar.gz"}, release.Archives[0].Formats)
	assert.Equal(t, "autoloop_{{ .Version }}_{{ .Os }}_{{ .Arch }}", release.Archives[0].NameTemplate)
	for _, file := range release.Archives[0].Files {
		if !strings.HasPrefix(file.Src, "share/") { // the hook makes it: TestManualIsInTheRelease
			assert.FileExists(t, filepath.Join("..", file.Src))
		}
		assert.Equal(t, "{{ .CommitDate }}", file.Info.Mtime, "%s: the same commit makes the same archive", file.Src)
	}
	assert.Equal(t, "checksums.txt", release.Checksum.NameTemplate)
	assert.Equal(t, "sha256", release.Checksum.Algorithm)
	assert.True(t, release.Release.Draft, "published when image and attestations are there")
}
