// Command scheduler picks the most overdue program and writes autoloop.json.
package main

import (
	"os"

	"github.com/org/autoloop/internal/cli"
)

func main() { os.Exit(cli.Main(cli.Scheduler)) }
