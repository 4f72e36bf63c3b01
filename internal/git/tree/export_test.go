package tree

import "os"

// SlowClock makes the tree as if the file had been written, as it is now, in
// the very tick in which the tree was built.
func SlowClock(t *Tree, name string) error {
	info, err := os.Lstat(t.path(name))
	if err != nil {
		return err
	}
	was := t.entries[name]
	was.stamp = stampOf(info)
	t.entries[name] = was
	t.built = was.stamp.changed
	return nil
}

// Lie makes the tree as if the file, as it is now, had been built so.
func Lie(t *Tree, name string) error {
	err := SlowClock(t, name)
	t.built = settle(t.Dir)
	return err
}
