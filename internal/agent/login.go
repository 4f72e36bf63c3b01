package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/org/autoloop/internal/agent/commandline"
	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/process"
)

// maxLogin bounds a login file, in bytes.
const maxLogin = 1 << 20

// loginFiles are the login files that a person has, copied into an agent's home.
type loginFiles struct {
	from, to string
	copies   []loginCopy
}

type loginCopy struct {
	commandline.Login
	before []byte
}

// hasLogin reports whether a person has one of the agent's login files.
func hasLogin(d *commandline.Descriptor, home string) bool {
	return home != "" && slices.ContainsFunc(d.Logins, func(l commandline.Login) bool {
		info, err := os.Stat(filepath.Join(home, filepath.FromSlash(l.Path)))
		return err == nil && info.Mode().IsRegular() && info.Size() <= maxLogin
	})
}

// copyLogins copies what the agent needs of a person's logins.
func copyLogins(d *commandline.Descriptor, from, to string) (*loginFiles, error) {
	copied := &loginFiles{from: from, to: to}
	if from == "" || from == to {
		return copied, nil
	}
	for _, l := range d.Logins {
		text, err := readLogin(filepath.Join(from, filepath.FromSlash(l.Path)))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read the login of %s: %w", d.Name, err)
		}
		if err := writePrivate(filepath.Join(to, filepath.FromSlash(l.Path)), pick(l, text)); err != nil {
			return nil, fmt.Errorf("copy the login of %s: %w", d.Name, err)
		}
		copied.copies = append(copied.copies, loginCopy{l, text})
	}
	return copied, nil
}

// pick is what is copied of a file.
func pick(l commandline.Login, text []byte) []byte {
	if l.Members == nil {
		return text
	}
	var all map[string]json.RawMessage
	if json.Unmarshal(text, &all) != nil {
		return []byte("{}\n")
	}
	picked := map[string]json.RawMessage{}
	for _, name := range l.Members {
		if value, ok := all[name]; ok {
			picked[name] = value
		}
	}
	out, err := json.Marshal(picked)
	if err != nil {
		return []byte("{}\n")
	}
	return out
}

// takeBack removes the copies. A login that the agent renewed is put back: its
// server may have made the old one worthless. Only a whole JSON object with the
// members of before is a renewed login, and only where nobody else renewed it.
func (f *loginFiles) takeBack() error {
	var problems []error
	for _, c := range f.copies {
		mine := filepath.Join(f.to, filepath.FromSlash(c.Path))
		after, err := readLogin(mine)
		if err == nil && c.Members == nil && renewed(c.before, after) {
			problems = append(problems, f.putBack(c, after))
		}
		if err := os.Remove(mine); err != nil && !errors.Is(err, fs.ErrNotExist) {
			problems = append(problems, err)
		}
	}
	return errors.Join(problems...)
}

func (f *loginFiles) putBack(c loginCopy, after []byte) error {
	file := filepath.Join(f.from, filepath.FromSlash(c.Path))
	now, err := readLogin(file)
	if err != nil || !bytes.Equal(now, c.before) {
		return nil //nolint:nilerr // Somebody else changed it, and theirs is newer.
	}
	return files.WriteFile(file, after, 0o600)
}

func renewed(before, after []byte) bool {
	var old, fresh map[string]json.RawMessage
	if bytes.Equal(before, after) || json.Unmarshal(before, &old) != nil || json.Unmarshal(after, &fresh) != nil {
		return false
	}
	for name := range old {
		if _, kept := fresh[name]; !kept {
			return false
		}
	}
	return true
}

func readLogin(file string) ([]byte, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxLogin {
		return nil, fmt.Errorf("%s is no regular file of at most %d bytes", file, maxLogin)
	}
	return os.ReadFile(file)
}

func writePrivate(file string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o600)
}

// secrets are the values of the copies that no output may show.
func (f *loginFiles) secrets() []string {
	var found []string
	for _, c := range f.copies {
		found = append(found, process.SecretsIn(c.before)...)
	}
	return found
}
