package setup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/org/autoloop/internal/files"
)

// Action is what `iterate init` does with one file, label or branch.
type Action string

// The actions.
const (
	Create Action = "create"
	Update Action = "update"
	Rename Action = "rename"
	Keep   Action = "keep"
)

// Step is one file, its path in the repository with slashes and the text
// that it gets; or something else, which Do does.
type Step struct {
	Action Action                      `json:"action"`
	Name   string                      `json:"name"`
	Why    string                      `json:"why,omitempty"`
	Text   string                      `json:"-"`
	Do     func(context.Context) error `json:"-"`
}

// Apply does the step. A new file is written only if it still does not exist.
func (s *Step) Apply(ctx context.Context, root string) error {
	if s.Action == Keep {
		return nil
	}
	if s.Do != nil {
		return s.Do(ctx)
	}
	if err := insideOnly(root, s.Name); err != nil {
		return err
	}
	file := filepath.Join(root, filepath.FromSlash(s.Name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	if s.Action == Update {
		return files.WriteFile(file, []byte(s.Text), 0o644)
	}
	out, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = out.WriteString(s.Text)
	return errors.Join(err, out.Close())
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
