package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/org/autoloop/internal/agent/commandline"
	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/process"
)

// maxLogin bounds a login file, in bytes.
const maxLogin = 1 << 20

// loginCopy is a login file that a person has, copied into an agent's home.
type loginCopy struct {
	commandline.Login
	theirs, copy string // files
	before       []byte
}

// hasLogin reports whether a person has one of the agent's login files.
func hasLogin(d *commandline.Descriptor, home string) bool {
	return home != "" && slices.ContainsFunc(d.Logins, func(l commandline.Login) bool {
		_, err := readLogin(filepath.Join(home, filepath.FromSlash(l.Path)))
		return err == nil
	})
}

// copyLogins copies what the agent needs of a person's logins; secrets are the values in them
// that no output may show.
func copyLogins(d *commandline.Descriptor, from, to string) (copies []loginCopy, secrets []string, err error) {
	if from == "" || from == to {
		return nil, nil, nil
	}
	for _, l := range d.Logins {
		path := filepath.FromSlash(l.Path)
		c := loginCopy{Login: l, theirs: filepath.Join(from, path), copy: filepath.Join(to, path)}
		c.before, err = readLogin(c.theirs)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, nil, fmt.Errorf("read the login of %s: %w", d.Name, err)
		}
		if err := writePrivate(c.copy, pick(l, c.before)); err != nil {
			return nil, nil, fmt.Errorf("copy the login of %s: %w", d.Name, err)
		}
		copies, secrets = append(copies, c), append(secrets, process.SecretsIn(c.before)...)
	}
	return copies, secrets, nil
}

// pick is what is copied of a file: of what is no JSON object nothing, where members are named.
func pick(l commandline.Login, text []byte) []byte {
	if l.Members == nil {
		return text
	}
	all := map[string]json.RawMessage{}
	_ = json.Unmarshal(text, &all)
	maps.DeleteFunc(all, func(name string, _ json.RawMessage) bool { return !slices.Contains(l.Members, name) })
	text, _ = json.Marshal(all) // it was read from JSON
	return text
}

// takeBack removes the copies. A login that the agent renewed is put back: its
// server may have made the old one worthless. Only a whole JSON object with the
// members of before is a renewed login, and only where nobody else renewed it.
func takeBack(copies []loginCopy) error {
	var problems []error
	for _, c := range copies {
		after, lost := readLogin(c.copy)
		now, gone := readLogin(c.theirs)
		if lost == nil && gone == nil && bytes.Equal(now, c.before) && c.Members == nil && renewed(c.before, after) {
			problems = append(problems, files.WriteFile(c.theirs, after, 0o600))
		}
		if err := os.Remove(c.copy); err != nil && !errors.Is(err, fs.ErrNotExist) {
			problems = append(problems, err)
		}
	}
	return errors.Join(problems...)
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
