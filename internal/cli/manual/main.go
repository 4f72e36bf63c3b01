// Command manual writes the manual pages and shell completions of a release.
package main

import (
	"os"

	"github.com/org/autoloop/internal/cli"
)

func main() { os.Exit(cli.Main(cli.Manual)) }
