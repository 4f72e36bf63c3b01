// Command manual writes what a release has beside its binaries, laid out as below
// /usr/local: a manual page for each command that `--help` lists, and completions
// for four shells.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra/doc"

	"github.com/org/autoloop/internal/cli"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "manual DIR VERSION DATE")
		os.Exit(cli.ExitMisuse)
	}
	if err := write(filepath.Join(os.Args[1], "share"), os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(cli.ExitFailed)
	}
}

func write(share, version, date string) error {
	made, err := time.Parse(time.RFC3339, date)
	if err != nil {
		return err
	}
	made = made.UTC()
	dirs := map[string]string{}
	for _, name := range []string{
		"man/man1", "bash-completion/completions", "zsh/site-functions",
		"fish/vendor_completions.d", "powershell",
	} {
		dirs[name] = filepath.Join(share, filepath.FromSlash(name))
		if err := os.MkdirAll(dirs[name], 0o755); err != nil {
			return err
		}
	}
	for _, root := range cli.Commands() {
		name := root.Name()
		root.DisableAutoGenTag = true
		err = errors.Join(err,
			doc.GenManTree(root, &doc.GenManHeader{
				Section: "1", Date: &made, Source: "autoloop " + version,
				Manual: "Autoloop",
			}, dirs["man/man1"]),
			root.GenBashCompletionFileV2(filepath.Join(dirs["bash-completion/completions"], name), true),
			root.GenZshCompletionFile(filepath.Join(dirs["zsh/site-functions"], "_"+name)),
			root.GenFishCompletionFile(filepath.Join(dirs["fish/vendor_completions.d"], name+".fish"), true),
			root.GenPowerShellCompletionFileWithDesc(filepath.Join(dirs["powershell"], name+".ps1")))
	}
	return err
}
