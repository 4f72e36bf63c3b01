// Command iterate runs iterations of one program: an agent changes the target
// files, the evaluation measures, and code decides.
package main

import (
	"os"

	"github.com/org/autoloop/internal/cli"
	"github.com/org/autoloop/internal/model"
)

func main() {
	client := &model.Client{}
	os.Exit(cli.Main(cli.Iterate(client.Complete)))
}
