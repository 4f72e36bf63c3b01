// Command iterate runs iterations of one program: an agent changes the target
// files, the evaluation measures, and code decides.
package main

import (
	"os"

	"github.com/org/autoloop/internal/agent/models/client"
	"github.com/org/autoloop/internal/cli"
)

// repository is where this binary was released, as OWNER/NAME. The linker sets it
// (-X main.repository), so that a fork's binary names the fork.
var repository = "org/autoloop" //nolint:gochecknoglobals // the linker needs a variable

func main() {
	client := &client.Client{}
	os.Exit(cli.Main(cli.Iterate(client.Complete, repository)))
}
