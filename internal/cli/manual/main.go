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
	header := &doc.GenManHeader{Section: "1", Date: &made, Source: "autoloop " + version, Manual: "Autoloop"}
	for _, root := range cli.Commands() {
		name := root.Name()
		root.DisableAutoGenTag = true
		pages := filepath.Join(share, "man", "man1")
		err = errors.Join(err, os.MkdirAll(pages, 0o755), doc.GenManTree(root, header, pages))
		for file, write := range map[string]func(string) error{
			"bash-completion/completions/" + name: func(f string) error { return root.GenBashCompletionFileV2(f, true) },
			"zsh/site-functions/_" + name:         root.GenZshCompletionFile,
			"fish/vendor_completions.d/" + name + ".fish": func(f string) error {
				return root.GenFishCompletionFile(f, true)
			},
			"powershell/" + name + ".ps1": root.GenPowerShellCompletionFileWithDesc,
		} {
			file = filepath.Join(share, file)
			err = errors.Join(err, os.MkdirAll(filepath.Dir(file), 0o755), write(file))
		}
	}
	return err
}
