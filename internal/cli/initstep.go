package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"

	"github.com/org/autoloop/internal/files"
)

// initAction is what `iterate init` does with one file, label or branch.
type initAction string

const (
	initCreate initAction = "create"
	initUpdate initAction = "update"
	initRename initAction = "rename"
	initKeep   initAction = "keep"
)

func (a initAction) changes() bool { return a != initKeep }

// initStep is one file, its path in the repository with slashes and the text
// that it gets; or something else, which do does.
type initStep struct {
	action          initAction
	name, text, why string
	do              func(context.Context) error
}

// apply does the step. A new file is written only where there still is none.
func (s initStep) apply(ctx context.Context, root string) error {
	if !s.action.changes() {
		return nil
	}
	if s.do != nil {
		return s.do(ctx)
	}
	if err := insideOnly(root, s.name); err != nil {
		return err
	}
	file := filepath.Join(root, filepath.FromSlash(s.name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	if s.action == initUpdate {
		return files.WriteFile(file, []byte(s.text), 0o644)
	}
	out, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	if _, err := out.WriteString(s.text); err != nil {
		_ = out.Close()
		return err
	}
	return out.Close()
}

const sealWords = "written by iterate init, sha256 "

// sealed adds a last line with the digest of the text, by which a later init
// knows whether somebody edited it.
func sealed(text, before, after string) string {
	return text + before + sealWords + digestOf(text) + after + "\n"
}

// isSealed says whether a text is as some init wrote it.
func isSealed(text string) bool {
	body := strings.TrimSuffix(text, "\n")
	at := strings.LastIndex(body, "\n") + 1
	_, digest, found := strings.Cut(body[at:], sealWords)
	digest, _, _ = strings.Cut(digest, " ")
	return found && digest == digestOf(body[:at])
}

func digestOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
