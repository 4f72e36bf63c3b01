//go:build !linux

package files

import "errors"

// SyncsTrees reports whether SyncTree can be used here.
const SyncsTrees = false

// SyncTree is not there: sync each file.
func SyncTree(string) error { return errors.ErrUnsupported }
