// Command iterate runs iterations of one program: an agent changes the target
// files, the evaluation measures, and code decides.
package main

import (
	"os"

	"github.com/org/autoloop/internal/agent/models/client"
	"github.com/org/autoloop/internal/cli"
)

func main() {
	client := &client.Client{}
	os.Exit(cli.Main(cli.Iterate(client.Complete)))
}
