//go:build !unix

package cli

import "os"

// widthOf is unknown here.
func widthOf(*os.File) int { return 0 }
