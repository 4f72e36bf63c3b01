package tree

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// addRepository makes a .git of the tree's own: the real repository's objects
// as alternates, HEAD detached at the commit, no hooks, no refs, no remotes.
func (t *Tree) addRepository(ctx context.Context) error {
	commit, ok, err := t.repo.Resolve(ctx, t.treeish)
	if err != nil {
		return err
	}
	if !ok {
		return fmt.Errorf("%s is no commit", t.treeish)
	}
	dir := filepath.Join(t.Dir, ".git")
	for _, path := range []string{"objects/info", "refs/heads", "refs/tags", "info"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.FromSlash(path)), 0o755); err != nil {
			return err
		}
	}
	version, extension := "0", ""
	if t.repo.ObjectFormat != "sha1" {
		version, extension = "1", "[extensions]\n\tobjectFormat = "+t.repo.ObjectFormat+"\n"
	}
	config := "[core]\n\trepositoryformatversion = " + version + "\n\tfilemode = true\n\tbare = false\n\tautocrlf = false\n" +
		"[user]\n\tname = Agent\n\temail = agent@localhost\n[gc]\n\tauto = 0\n" + extension
	objects := filepath.Join(t.repo.CommonDir, "objects")
	files := map[string]string{
		"HEAD":                    commit + "\n",
		"config":                  config,
		"objects/info/alternates": alternate(objects) + "\n",
	}
	if shallow, err := os.ReadFile(filepath.Join(t.repo.CommonDir, "shallow")); err == nil {
		files["shallow"] = string(shallow)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(text), 0o644); err != nil {
			return err
		}
	}
	index, err := os.ReadFile(t.index())
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "index"), index, 0o644)
}

// alternate quotes a path for objects/info/alternates.
func alternate(path string) string {
	if !strings.ContainsAny(path, "\n\"") && !strings.HasPrefix(path, "#") {
		return path
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(path) + `"`
}
