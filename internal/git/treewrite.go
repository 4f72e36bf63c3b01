package git

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"context"
	"crypto/sha1" //nolint:gosec // It names objects.
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"maps"
	"slices"
	"strconv"
	"strings"
)

const (
	// maxPacked bounds the files that are written by one process, in bytes.
	maxPacked = 32 << 20
	// large is the size in bytes beyond which a file gets a process of its own, which
	// takes two thirds of the time that unpacking takes.
	large = 256 << 10
)

// treeEditor makes the tree objects that a change of files needs.
type treeEditor struct {
	repo trees
	made []Object
	read int
}

// editTree is WriteFiles in one process: blobs and trees are made here and, but for
// large ones, written together. What is out of the ordinary is errUnasked.
func (r trees) editTree(ctx context.Context, base string, files map[string]*File) (string, error) {
	e, id, err := r.edited(ctx, base, files)
	if err != nil {
		return "", err
	}
	return id, r.writeObjects(ctx, e.made)
}

// edited makes the objects of a tree, which are still to be written.
func (r trees) edited(ctx context.Context, base string, files map[string]*File) (*treeEditor, string, error) {
	e := &treeEditor{repo: r}
	size := 0
	for path, file := range files {
		if isDoubtful(path) || checkPath(path) != nil {
			return nil, "", errUnasked
		}
		if file != nil {
			size += len(file.Data)
		}
	}
	if size > maxPacked || len(files) > maxAsked {
		return nil, "", errUnasked
	}
	id, err := e.edit(ctx, base, files)
	if err != nil {
		return nil, "", err
	}
	if id == "" {
		id = e.object("tree", nil)
	}
	return e, id, nil
}

// edit returns what a directory becomes, "" when it becomes empty. Rev is "" for
// one that is not there.
func (e *treeEditor) edit(ctx context.Context, rev string, files map[string]*File) (id string, err error) {
	entries := map[string]TreeEntry{}
	if rev != "" {
		if e.read++; e.read > maxAsked {
			return "", errUnasked
		}
		var list []TreeEntry
		if _, list, err = e.repo.readTree(ctx, rev); err != nil {
			return "", err
		}
		for _, entry := range list {
			entries[entry.Path] = entry
		}
	}
	below := map[string]map[string]*File{}
	for path, file := range files {
		name, rest, nested := strings.Cut(path, "/")
		if nested {
			if below[name] == nil {
				below[name] = map[string]*File{}
			}
			below[name][rest] = file
			continue
		}
		if err := e.put(ctx, entries, name, file); err != nil {
			return "", err
		}
	}
	for name, inside := range below {
		if file, also := files[name]; also && file != nil {
			return "", errUnasked // A file and a directory of one name.
		}
		if err := e.enter(ctx, entries, name, inside); err != nil {
			return "", err
		}
	}
	if len(entries) == 0 {
		return "", nil
	}
	return e.object("tree", serializeTree(entries)), nil
}

// put puts one file into a directory, or takes it out.
func (e *treeEditor) put(ctx context.Context, entries map[string]TreeEntry, name string, file *File) error {
	if file == nil {
		if entries[name].Type != "tree" {
			delete(entries, name)
		}
		return nil
	}
	entry := TreeEntry{Mode: cmp.Or(file.Mode, ModeFile), Type: "blob", ID: file.ID, Path: name}
	switch {
	case !slices.Contains([]string{ModeFile, ModeExecutable, ModeSymlink}, entry.Mode):
		return errUnasked
	case entry.ID == "" && len(file.Data) > large:
		ids, err := e.repo.HashObjects(ctx, file.Data)
		if err != nil {
			return err
		}
		entry.ID = ids[0]
	case entry.ID == "":
		entry.ID = e.object("blob", file.Data)
	default:
		if found, err := e.repo.objects().ask(ctx, info, entry.ID); err != nil || found.Type != "blob" {
			return errors.Join(err, errUnasked)
		}
	}
	entries[name] = entry
	return nil
}

// enter changes a directory in a directory.
func (e *treeEditor) enter(ctx context.Context, entries map[string]TreeEntry, name string, files map[string]*File) error {
	present, there := entries[name]
	onlyRemoved := !slices.ContainsFunc(slices.Collect(maps.Values(files)), func(f *File) bool { return f != nil })
	if onlyRemoved && present.Type != "tree" {
		return nil
	}
	rev := ""
	if there && present.Type == "tree" {
		rev = present.ID
	}
	id, err := e.edit(ctx, rev, files)
	if err != nil {
		return err
	}
	delete(entries, name)
	if id != "" {
		entries[name] = TreeEntry{Mode: ModeDirectory, Type: "tree", ID: id, Path: name}
	}
	return nil
}

// object notes an object to be written and returns its id.
func (e *treeEditor) object(kind string, data []byte) string {
	sum := e.repo.newHash()
	sum.Write([]byte(kind + " " + strconv.Itoa(len(data)) + "\x00"))
	sum.Write(data)
	id := hex.EncodeToString(sum.Sum(nil))
	e.made = append(e.made, Object{ID: id, Type: kind, Data: data})
	return id
}

// serializeTree renders a tree object. git sorts a directory as if its name ended
// with a slash.
func serializeTree(entries map[string]TreeEntry) []byte {
	key := func(e TreeEntry) string {
		if e.Type == "tree" {
			return e.Path + "/"
		}
		return e.Path
	}
	sorted := slices.SortedFunc(maps.Values(entries), func(a, b TreeEntry) int { return strings.Compare(key(a), key(b)) })
	var out bytes.Buffer
	for _, entry := range sorted {
		raw, _ := hex.DecodeString(entry.ID) // It is an id of git's or ours.
		fmt.Fprintf(&out, "%s %s\x00", strings.TrimLeft(entry.Mode, "0"), entry.Path)
		out.Write(raw)
	}
	return out.Bytes()
}

func (r trees) newHash() hash.Hash {
	if r.ObjectFormat == "sha256" {
		return sha256.New()
	}
	return sha1.New() //nolint:gosec // It names objects.
}

// writeObjects writes any number of objects by one process, as a pack that git
// unpacks. The format is that of gitformat-pack, without deltas.
func (r trees) writeObjects(ctx context.Context, objects []Object) error {
	kinds := map[string]byte{"commit": 1, "tree": 2, "blob": 3}
	var pack bytes.Buffer
	pack.WriteString("PACK")
	_ = binary.Write(&pack, binary.BigEndian, [2]uint32{2, uint32(len(objects))})
	for _, o := range objects {
		// The low four bits of the size come with the kind, then seven a byte.
		size := uint64(len(o.Data))
		first := kinds[o.Type]<<4 | byte(size&0xf)
		if size >>= 4; size > 0 {
			pack.WriteByte(first | 0x80)
			pack.Write(binary.AppendUvarint(nil, size))
		} else {
			pack.WriteByte(first)
		}
		compress, _ := zlib.NewWriterLevel(&pack, zlib.NoCompression) // git compresses what it unpacks
		_, _ = compress.Write(o.Data)                                 // A buffer takes all.
		_ = compress.Close()
	}
	sum := r.newHash()
	sum.Write(pack.Bytes())
	pack.Write(sum.Sum(nil))
	_, err := r.Run(ctx, Input{Stdin: pack.Bytes()}, "unpack-objects", "-q")
	return err
}
