package git

import (
	"crypto/sha1" //nolint:gosec // It names objects.
	"crypto/sha256"
	"encoding/hex"
	"strconv"
)

// BlobID is the name of a file's content in a repository of this object format,
// "sha1" or "sha256".
func BlobID(format string, data []byte) string {
	sum := sha1.New() //nolint:gosec // It names objects.
	if format == "sha256" {
		sum = sha256.New()
	}
	sum.Write([]byte("blob " + strconv.Itoa(len(data)) + "\x00"))
	sum.Write(data)
	return hex.EncodeToString(sum.Sum(nil))
}
