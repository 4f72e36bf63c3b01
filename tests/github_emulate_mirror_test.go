package tests

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// mirror makes the emulator know what was pushed to a git repository, through
// its Git Data API. Every object must come out with the hash that git gave it.
type mirror struct {
	bare string
	// call sends a request with the owner's token, to a path below the repository.
	call func(method, path string, body, into any) error
	// done are the objects that the emulator has, refs the branches as it has
	// them by our hand.
	done map[string]bool
	refs map[string]string
}

func newMirror(bare string, call func(method, path string, body, into any) error) *mirror {
	// The emulator begins with a commit of its own on main.
	return &mirror{bare: bare, call: call, done: map[string]bool{}, refs: map[string]string{"refs/heads/main": ""}}
}

// object is one of git's.
type object struct {
	kind string
	data []byte
}

// sync brings the emulator to where the branches are now, and returns those
// that moved.
func (m *mirror) sync() (moved []string, err error) {
	text, err := m.git(nil, "for-each-ref", "--format=%(refname) %(objectname)", "refs/heads")
	if err != nil {
		return nil, err
	}
	now := map[string]string{}
	for line := range strings.Lines(string(text)) {
		ref, id, _ := strings.Cut(strings.TrimSpace(line), " ")
		now[ref] = id
	}
	objects, err := m.missing()
	if err != nil {
		return nil, err
	}
	for _, id := range slices.Sorted(maps.Keys(objects)) {
		if err := m.create(id, objects); err != nil {
			return nil, err
		}
	}
	return m.move(now)
}

// git runs git in the repository.
func (m *mirror) git(input []byte, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(context.Background(), "git", append([]string{"--git-dir", m.bare}, args...)...)
	cmd.Stdin = bytes.NewReader(input)
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git %v: %w", args, err)
	}
	return out, nil
}

// missing reads the objects of all branches that the emulator does not have.
func (m *mirror) missing() (map[string]object, error) {
	listed, err := m.git(nil, "rev-list", "--objects", "--branches")
	if err != nil {
		return nil, err
	}
	var wanted strings.Builder
	for line := range strings.Lines(string(listed)) {
		if id, _, _ := strings.Cut(strings.TrimSpace(line), " "); !m.done[id] {
			wanted.WriteString(id + "\n")
		}
	}
	batch, err := m.git([]byte(wanted.String()), "cat-file", "--batch")
	if err != nil {
		return nil, err
	}
	objects := map[string]object{}
	for in := bufio.NewReader(bytes.NewReader(batch)); ; {
		header, err := in.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		var id, kind string
		var size int
		if _, err := fmt.Sscan(header, &id, &kind, &size); err != nil {
			return nil, fmt.Errorf("cat-file says %q: %w", header, err)
		}
		data := make([]byte, size+1) // and a line break
		if _, err := io.ReadFull(in, data); err != nil {
			return nil, err
		}
		objects[id] = object{kind, data[:size]}
	}
}

// create makes an object on the emulator, after those that it refers to.
func (m *mirror) create(id string, objects map[string]object) error {
	o, found := objects[id]
	if m.done[id] || !found {
		return nil
	}
	var (
		body  any
		needs []string
		err   error
	)
	switch o.kind {
	case "blob":
		body = map[string]string{"content": base64.StdEncoding.EncodeToString(o.data), "encoding": "base64"}
	case "tree":
		body, needs, err = treeOf(o.data)
	case "commit":
		body, needs, err = commitOf(o.data)
	default:
		err = errors.New("the mirror knows no such object")
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", o.kind, id, err)
	}
	for _, need := range needs {
		if err := m.create(need, objects); err != nil {
			return err
		}
	}
	var made struct{ SHA string }
	if err := m.call("POST", "git/"+o.kind+"s", body, &made); err != nil {
		return fmt.Errorf("create %s %s: %w", o.kind, id, err)
	}
	if made.SHA != id {
		return fmt.Errorf("the emulator made %s of %s %s", made.SHA, o.kind, id)
	}
	m.done[id] = true
	return nil
}

// treeOf reads a tree object.
func treeOf(data []byte) (body any, needs []string, err error) {
	entries := []map[string]string{}
	for len(data) > 0 {
		head, rest, found := bytes.Cut(data, []byte{0})
		mode, name, named := strings.Cut(string(head), " ")
		if !found || !named || len(rest) < 20 {
			return nil, nil, errors.New("it ends too early")
		}
		id, kind := hex.EncodeToString(rest[:20]), "blob"
		switch mode {
		case "40000":
			mode, kind = "040000", "tree"
		case "160000":
			kind = "commit"
		}
		entries = append(entries, map[string]string{"path": name, "mode": mode, "type": kind, "sha": id})
		needs, data = append(needs, id), rest[20:]
	}
	return map[string]any{"tree": entries}, needs, nil
}

// commitOf reads a commit object.
func commitOf(data []byte) (body any, needs []string, err error) {
	head, message, _ := strings.Cut(string(data), "\n\n")
	made := map[string]any{"message": message}
	parents := []string{}
	for line := range strings.Lines(head) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch key {
		case "tree":
			made["tree"], needs = value, append(needs, value)
		case "parent":
			parents, needs = append(parents, value), append(needs, value)
		case "author", "committer":
			if made[key], err = personOf(value); err != nil {
				return nil, nil, err
			}
		default:
			return nil, nil, fmt.Errorf("the Git Data API has no %q", key)
		}
	}
	made["parents"] = parents
	return made, needs, nil
}

// personOf reads `Name <mail> 1700000000 +0000`.
func personOf(text string) (map[string]string, error) {
	name, rest, _ := strings.Cut(text, " <")
	mail, when, _ := strings.Cut(rest, "> ")
	seconds, zone, _ := strings.Cut(when, " ")
	unix, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return nil, err
	}
	in, err := time.Parse("-0700", zone)
	if err != nil {
		return nil, err
	}
	return map[string]string{
		"name": name, "email": mail,
		"date": time.Unix(unix, 0).In(in.Location()).Format(time.RFC3339),
	}, nil
}

// move makes the emulator's branches those of now.
func (m *mirror) move(now map[string]string) (moved []string, err error) {
	for _, ref := range slices.Sorted(maps.Keys(now)) {
		before, known := m.refs[ref]
		switch {
		case known && before == now[ref]:
			continue
		case known:
			err = m.call("PATCH", "git/"+ref, map[string]any{"sha": now[ref], "force": true}, nil)
		default:
			err = m.call("POST", "git/refs", map[string]any{"ref": ref, "sha": now[ref]}, nil)
		}
		if err != nil {
			return moved, fmt.Errorf("move %s: %w", ref, err)
		}
		moved = append(moved, ref)
	}
	for ref := range m.refs {
		if _, there := now[ref]; !there {
			if err := m.call("DELETE", "git/"+ref, nil, nil); err != nil {
				return moved, fmt.Errorf("delete %s: %w", ref, err)
			}
		}
	}
	m.refs = now
	return moved, nil
}
