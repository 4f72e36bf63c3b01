package tree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/org/autoloop/internal/git"
)

// treeConfig is what the throw-away repository has beyond the format.
const treeConfig = `[user]
	name = Agent
	email = agent@localhost
[commit]
	gpgSign = false
[gc]
	auto = 0
[maintenance]
	auto = false
`

// addRepository makes a .git of the tree's own: the real repository's objects
// as alternates, HEAD detached at the commit, its tags, the index as it was built; no
// hooks, no branches, no remotes.
func (t *Tree) addRepository(ctx context.Context, c *control, head string) error {
	object, err := t.repo.Cat(ctx, head+"^{commit}")
	if err != nil {
		return err
	}
	commit := object[0]
	if commit.Missing() {
		return fmt.Errorf("%s is no commit of the repository", head)
	}
	dir := filepath.Join(t.Dir, ".git")
	if err := initRepository(dir, t.repo, commit.ID, treeConfig); err != nil {
		return err
	}
	refs, err := t.repo.ListRefs(ctx, "refs/tags")
	if err != nil {
		return err
	}
	if first, rest, _ := strings.Cut(string(commit.Data), "\n"); first != "tree "+t.id {
		in := git.Input{
			Stdin: []byte("tree " + t.id + "\n" + rest),
			Env:   []string{"GIT_OBJECT_DIRECTORY=" + filepath.Join(dir, "objects")},
		}
		shown, err := c.run(ctx, in, "hash-object", "-t", "commit", "-w", "--stdin")
		if err != nil {
			return err
		}
		refs = append(refs, git.Ref{Name: "refs/replace/" + commit.ID, ID: strings.TrimSpace(string(shown))})
	}
	var packed strings.Builder
	for _, ref := range refs {
		packed.WriteString(ref.ID + " " + ref.Name + "\n")
	}
	if err := os.WriteFile(filepath.Join(dir, "packed-refs"), []byte(packed.String()), 0o600); err != nil {
		return err
	}
	if err := copyFile(filepath.Join(t.repo.CommonDir, "shallow"), filepath.Join(dir, "shallow")); err != nil &&
		!errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := copyFile(c.path("index"), filepath.Join(dir, "index")); err != nil {
		return err
	}
	var exclude strings.Builder
	for _, path := range t.Shared {
		exclude.WriteString("/" + literalPattern(path) + "\n")
	}
	return os.WriteFile(filepath.Join(dir, "info", "exclude"), []byte(exclude.String()), 0o600)
}

// initRepository writes a git directory that borrows the objects of repo.
func initRepository(dir string, repo *git.Repo, head, config string) error {
	for _, path := range []string{"objects/info", "objects/pack", "refs/heads", "refs/tags", "info"} {
		if err := os.MkdirAll(filepath.Join(dir, path), 0o700); err != nil {
			return err
		}
	}
	for name, text := range map[string]string{
		"HEAD":                    head + "\n",
		"objects/info/alternates": alternate(filepath.Join(repo.CommonDir, "objects")) + "\n",
		"config":                  coreConfig(repo.ObjectFormat) + config,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// coreConfig says how the tree was written, whatever is configured around it.
func coreConfig(format string) string {
	version, extension := 0, ""
	if format != "sha1" {
		version, extension = 1, "[extensions]\n\tobjectFormat = "+format+"\n"
	}
	return fmt.Sprintf("[core]\n\trepositoryFormatVersion = %d\n\tbare = false\n\tfileMode = true\n\tautocrlf = false\n"+
		"\tsafecrlf = false\n\tfsmonitor = false\n\tignoreCase = false\n%s", version, extension)
}

func copyFile(source, target string) error {
	data, err := os.ReadFile(source)
	if err != nil {
		return err
	}
	return os.WriteFile(target, data, 0o600)
}

// alternate quotes a path for objects/info/alternates.
func alternate(path string) string {
	if !strings.ContainsAny(path, "\n\"") && !strings.HasPrefix(path, "#") {
		return path
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(path) + `"`
}

// literalPattern quotes a path for an exclude file.
func literalPattern(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, " ", `\ `).Replace(path)
}
